"""`pubmill plan`: a study's plan, with the requests of a profile, or the recipes alone."""

from collections.abc import Callable
from typing import Any

import pytest

from pubmill.planning import cluster_plan, plan, plan_printing
from pubmill.workflow import listed_jobs
from tests.unit.cli.conftest import Said


@pytest.fixture
def planned(started: Said, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Run `pubmill plan WORDS`, where plans are named instead of made; return the lines."""
    monkeypatch.setattr("pubmill.cli.plan_command.measured_gpus", lambda: "gpus")
    mirrors: list[Any] = []
    monkeypatch.setattr("pubmill.cli.plan_command.provide_mirror", mirrors.append)
    monkeypatch.setattr("pubmill.specs.study.check_study", lambda config, *_: (config["study"],))
    monkeypatch.setattr("pubmill.stages.checked_graph", lambda *about: f"graph of {about[0]}")
    monkeypatch.setattr("pubmill.specs.load", lambda specs, scale: f"specs of {scale}")
    monkeypatch.setattr(listed_jobs, "jobs_of_study", lambda root, config, finished: "jobs")
    monkeypatch.setattr(plan, "make_plan", lambda *about: about)
    monkeypatch.setattr(plan, "recipes_at_full", lambda *_: "recipes")
    monkeypatch.setattr(plan_printing, "print_plan", lambda _, made, graph, gpus: print("plan of", graph))
    monkeypatch.setattr(plan_printing, "recipes_as_markdown", lambda made, gpus: [f"| {made} |"])
    monkeypatch.setattr(cluster_plan, "read_profile", lambda name: {} if name == "empty" else {"is": name})
    monkeypatch.setattr(cluster_plan, "requests", lambda jobs, graph, gpus, settings: settings)
    monkeypatch.setattr(cluster_plan, "requests_table", lambda asked: f"requests {sorted(asked.values())}")

    def lines(*words: str) -> list[str]:
        return started("plan", *words).splitlines()

    return lines


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("gu2020", ["plan of graph of gu2020"]),
        ("gu2020 --profile slurm", ["plan of graph of gu2020", "requests ['slurm']"]),
        ("gu2020 --profile empty", ["plan of graph of gu2020", "requests []"]),
        ("--recipes", ["| recipes |"]),
        ("gu2020 --recipes", ["| recipes |"]),
    ],
)
def test_a_plan_is_followed_by_the_requests_of_a_profile(
    planned: Callable[..., list[str]], words: str, lines: list[str]
) -> None:
    assert planned(*words.split()) == lines
