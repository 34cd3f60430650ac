"""`pubmill plan`: a study's plan, with the requests of a profile, or the recipes alone."""

import pytest

from pubmill.planning.plan import Job
from tests.unit.cli.conftest import Said


def test_a_plan_is_followed_by_the_requests_of_a_profile(
    started: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [Job("table", {"results_table": "gu2020-table06"}, True)]
    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", lambda *_, **__: jobs)
    plan = started("plan", "gu2020")
    assert plan.startswith("GPU-hours:  none\n") and "jobs:       1 to do, 0 done already\n" in plan
    requests = started("plan", "gu2020", "--profile", "slurm").removeprefix(plan)
    assert [line.split()[:3] for line in requests.splitlines()[::3]][-1] == ["table", "1", "cpu"]


def test_several_settings_may_follow_one_option(started: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[object] = []

    def jobs_of_study(_: object, config: dict[str, object], **__: object) -> list[Job]:
        found.append((config["results"], config["save_minutes"]))
        return []

    monkeypatch.setattr("pubmill.planning.plan.jobs_of_study", jobs_of_study)
    for words in (
        ["gu2020", "--config", "results=a", "save_minutes=7"],
        ["--config", "results=a", "save_minutes=7", "gu2020"],
    ):
        started("plan", *words)
    assert found == [("a", 7)] * 2


def test_recipes_need_no_study(started: Said) -> None:
    assert started("plan", "--recipes").startswith("| recipe | operations | ")
