"""Output of the doctor: datasets, models and links, line by line."""

from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pubmill.inspection.doctor.dataset_diagnoses import DatasetFinding
from pubmill.inspection.doctor.doctor_printing import print_findings, print_models
from pubmill.inspection.doctor.links import Links
from pubmill.inspection.doctor.model_diagnoses import ModelFinding
from pubmill.specs import Specs, load


@pytest.fixture(scope="module")
def specs(root: Path) -> Specs:
    return load(root / "specs", "full")


def lines(print_: Any, *what: Any) -> list[str]:
    text = StringIO()
    print_(Console(file=text, width=160, highlight=False), *what)
    return text.getvalue().splitlines()


def finding(specs: Specs, name: str, wanted: bool = True, **changes: Any) -> DatasetFinding:
    return DatasetFinding(name, wanted, specs.datasets[name], **changes)


def test_datasets_of_the_study_come_first_with_their_state(specs: Specs) -> None:
    licence = specs.datasets["bc2gm"].licence
    found = [
        finding(specs, "bc2gm", available=None, sources=Counter(network=2, absent=0),
                counts="not converted yet"),
        finding(specs, "jnlpba", wanted=False, counted=True, counts="counts as expected"),
        finding(
            specs, "gad@blurb", available=False, counted=False, counts="counts differ", dead=["u: 404"],
            to_do=["one", "two"],
        ),
    ]  # fmt: skip
    made = lines(print_findings, found, Links(True, {}))
    assert made[:3] == [
        "", "Datasets that the study uses",
        "bc2gm: available if its links are alive (files: 2 from the network); not converted yet",
    ]  # fmt: skip
    assert made[3] == f"    public; licence: {licence}"
    assert made[4] == "gad@blurb: NOT AVAILABLE (files: none); counts differ"
    assert made[6:9] == ["    dead link: u: 404", "    to do: one", "    to do: two"]
    assert made[9:12] == ["", "Other datasets", "jnlpba: available (files: none); counts as expected"]
    assert made[13:] == ["", "In order: 1 of 2 datasets that the study uses"]


@pytest.mark.parametrize(
    ("links", "text"),
    [
        (Links(True, {}), None),
        (Links(False, {}), "There is no network: no host answers, so links were not checked."),
        (None, "Links were not checked (--offline)."),
    ],
)
def test_unchecked_links_are_said_to_be(specs: Specs, links: Links | None, text: str | None) -> None:
    made = lines(print_findings, [finding(specs, "bc2gm", wanted=False)], links)
    assert [line for line in made if "inks were" in line] == ([text] if text else [])
    assert "Datasets that the study uses" not in made and made[-1].startswith("In order: 0 of 0 datasets")


def test_models_have_their_source_and_what_to_do() -> None:
    assert lines(print_models, []) == []
    found = [
        ModelFinding("a", "made here"), ModelFinding("b", "the hub", None),
        ModelFinding("c", "a folder", False, "bring it"),
    ]  # fmt: skip
    assert lines(print_models, found) == [
        "", "Models that the study uses", "a: available (made here)", "b: to be fetched (the hub)",
        "c: NOT AVAILABLE (a folder)", "    to do: bring it",
    ]  # fmt: skip
    assert [one.sound for one in found] == [True, True, False]


@pytest.mark.parametrize(
    ("available", "counted", "sound"),
    [(True, True, True), (None, None, True), (False, True, False), (True, False, False)],
)
def test_a_dataset_is_in_order_unless_something_is_wrong(
    specs: Specs, available: bool | None, counted: bool | None, sound: bool
) -> None:
    assert finding(specs, "bc2gm", available=available, counted=counted).sound is sound
