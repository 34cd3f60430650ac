"""Output of the data check: counts, hashes, messages and totals of outcomes that are made up."""

from typing import Any

import pytest
from rich.console import Console

from pubmill.inspection.data_checks import CheckOutcome, SplitCheck, print_outcomes, totals


def split(name: str = "train", **changes: Any) -> SplitCheck:
    values: dict[str, Any] = {
        "kind": "tokens", "expected": {"mentions": 2, "tokens": 9}, "found": {"mentions": 2, "tokens": 9},
        "has_form": True, "hash": True,
    }  # fmt: skip
    return SplitCheck(name, **values | changes)


BARE: dict[str, Any] = {"expected": {}, "has_form": False, "hash": None}


def lines(outcomes: list[CheckOutcome], unchecked: dict[str, str]) -> list[str]:
    console = Console(width=200, record=True)
    print_outcomes(console, outcomes, unchecked)
    return [" ".join(line.split()) for line in console.export_text().splitlines() if line.strip(" ─━")]


@pytest.mark.parametrize(("changes", "shown"), [
    ({}, "2 mentions 2 mentions all 2 equal"),
    ({"found": {"mentions": 3, "tokens": 9}}, "2 mentions 3 mentions 1 of 2 equal"),
    ({"found": {"tokens": 9}}, "2 mentions 0 mentions 1 of 2 equal"),
    ({"found": None, "hash": None}, "2 mentions not converted not written"),
    ({"hash": False}, "2 mentions 2 mentions all 2 differs"),
    ({"hash": None}, "2 mentions 2 mentions all 2 not known"),
    ({"has_form": False, "hash": None}, "2 mentions 2 mentions all 2 no other form"),
    (BARE, "2 mentions none expected no other form"),
    ({"expected": {"left_out.x": 1, "tokens": 9}}, "9 tokens 9 tokens 1 of 2 equal"),
    ({"kind": "sequence", "expected": {}}, "0 examples none expected equal"),
])  # fmt: skip
def test_a_split_has_its_main_count_and_its_hash(changes: dict[str, Any], shown: str) -> None:
    found = lines([CheckOutcome("bc2gm@small", [split(**changes)], [], 1.25)], {})
    assert found[0] == "dataset variant split expected found equal hash seconds"
    assert found[1] == f"bc2gm small train {shown} 1.2"


def test_datasets_are_in_order_and_their_name_and_time_stand_once() -> None:
    outcomes = [
        CheckOutcome("gad", [split("train"), split("test")], ["train: differs", "gad: too few"], 3.0),
        CheckOutcome("bc2gm", [split("train")], [], 2.0),
    ]
    found = lines(outcomes, {"n2c2": "apply"})
    assert [line.split()[0] for line in found[1:4]] == ["bc2gm", "gad", "test"]
    assert found[2].endswith(" 3.0") and not found[3].endswith(" 3.0")
    assert found[4:8] == ["gad: train: differs", "gad: too few", "not checked why", "n2c2 apply"]
    assert found[8].startswith("as expected: 1 of 2 datasets,") and len(found) == 9


def test_what_nothing_can_be_compared_with_is_named_unless_it_failed() -> None:
    outcomes = [
        CheckOutcome("b", [split(), split("dev", **BARE)], [], 1.0),
        CheckOutcome("a", [split(**BARE)], [], 1.0), CheckOutcome("c", [split(**BARE)], ["failed"], 1.0),
        CheckOutcome("d", [split()], [], 1.0),
    ]  # fmt: skip
    assert "nothing to compare: a, any split; b, dev" in lines(outcomes, {})
    assert totals(outcomes, {"d": "why", "e": "why"}) == (
        "as expected: 2 of 3 datasets, 4 of 4 counts and 2 of 2 known hashes; nothing to compare in 1 "
        "dataset; not checked: 2 datasets"
    )
