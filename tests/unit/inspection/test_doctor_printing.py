"""Output of the doctor: datasets, models and links, line by line."""

from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pubmill.inspection import doctor
from pubmill.inspection.doctor import (
    DatasetFinding,
    Links,
    ModelFinding,
    print_findings,
    print_machine,
    print_models,
    print_summary,
)
from pubmill.specs import Specs


def lines(print_: Any, *what: Any) -> list[str]:
    text = StringIO()
    print_(Console(file=text, width=160, highlight=False), *what)
    return text.getvalue().splitlines()


def findings(specs: Specs) -> list[DatasetFinding]:
    bc2gm, jnlpba, gad = (specs.datasets[name] for name in ("bc2gm", "jnlpba", "gad@blurb"))
    found = Counter(network=2, absent=0)
    faults: dict[str, Any] = {"counts": "counts differ", "dead": ["u: 404"], "to_do": ["one", "two"]}
    return [
        DatasetFinding("bc2gm", True, bc2gm, available=None, sources=found, counts="not converted yet"),
        DatasetFinding("jnlpba", False, jnlpba, counted=True, counts="counts as expected"),
        DatasetFinding("gad@blurb", True, gad, available=False, counted=False, **faults),
    ]


def words(made: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in made if line.strip(" \N{BOX DRAWINGS LIGHT HORIZONTAL}")]


def test_datasets_are_a_table_and_below_it_is_what_to_do(full_specs: Specs) -> None:
    made = words(lines(print_findings, findings(full_specs)))
    assert made == [
        "dataset state files counts", "bc2gm to be fetched 2 from the network not converted yet",
        "gad@blurb NOT AVAILABLE none counts differ", "gad@blurb: dead link: u: 404", "gad@blurb: to do: one",
        "gad@blurb: to do: two", "1 other dataset and all licences: -v",
    ]  # fmt: skip


def test_verbose_adds_licences_and_the_other_datasets(full_specs: Specs) -> None:
    made = words(lines(print_findings, findings(full_specs), True))
    assert f"bc2gm: public; licence: {full_specs.datasets['bc2gm'].licence}" in made
    assert "jnlpba ready none counts as expected" in made and not made[-1].endswith("-v")


def test_models_have_their_source_and_what_to_do() -> None:
    found = [
        ModelFinding("b", "the hub", "to be fetched", None),
        ModelFinding("c", "a folder", "NOT AVAILABLE", False, "bring it"),
    ]
    assert words(lines(print_models, found)) == [
        "model state source", "b to be fetched the hub", "c NOT AVAILABLE a folder", "c: to do: bring it",
    ]  # fmt: skip
    assert lines(print_models, []) == lines(print_findings, []) == []


@pytest.mark.parametrize("fault", ["", "no C compiler; install gcc"])
def test_a_missing_compiler_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(doctor, "compiler_fault", lambda: fault)
    state = "NOT AVAILABLE" if fault else "ready"
    expected = [f"C compiler for kernels of GPUs: {state}", *([f"    {fault}"] if fault else [])]
    assert lines(print_machine)[1:] == expected


@pytest.mark.parametrize(("program", "said"), [
    ("echo NVIDIA H100 80GB HBM3; echo NVIDIA A100", "GPU: NVIDIA H100 80GB HBM3, NVIDIA A100"),
    ("exit 9", "GPU: none here: trainings run on processors, far slower"),
    (None, "GPU: none here: trainings run on processors, far slower"),
])  # fmt: skip
def test_the_gpus_are_those_that_the_driver_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None, said: str
) -> None:
    if program:
        (tmp_path / "nvidia-smi").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lines(print_machine)[0] == said


@pytest.mark.parametrize(("links", "text"), [
    (Links(True, {}), []),
    (Links(False, {}), ["There is no network: no host answers, so links were not checked."]),
    (None, ["Links were not checked (--offline)."]),
])  # fmt: skip
def test_the_answer_comes_first_and_unchecked_links_are_said_to_be(
    full_specs: Specs, links: Links | None, text: list[str]
) -> None:
    models = [
        ModelFinding("a", "made here"), ModelFinding("c", "a folder", "NOT AVAILABLE", False, "bring it"),
    ]  # fmt: skip
    made = lines(print_summary, findings(full_specs), models, links)
    assert made == [
        "Ready, to be fetched or to be trained: 1 of 2 datasets and 1 of 2 models of the study", *text,
    ]  # fmt: skip
    assert lines(print_summary, [], models, Links(True, {}))[0].startswith(
        "Ready, to be fetched or to be trained: 1 of 2 models of"
    )
