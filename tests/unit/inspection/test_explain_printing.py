"""The printed explanation of a cell, line by line."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from pubmill.inspection.explain.cell_explanations import CellRun, Explanation
from pubmill.inspection.explain.explanation_printing import print_explanation

PUBLISHED = {"value": 82.0, "printed": "82.0", "note": ""}
FACTS = {
    "dev_score": 0.5, "seconds": 3725.0, "commit": "abc", "python": "3.11.9",
    "machine": {"cores": 1200, "gpus": []}, "packages": None,
}  # fmt: skip
RUNS = (
    CellRun("runs/a.json", "bc2gm", 1, 81.25, None, FACTS),
    CellRun("runs/b.json", "bc2gm", 2, None, "nan", FACTS | {"commit": "def"}),
    CellRun("runs/c.json", "bc2gm", 3, None, None, {}),
)


def cell(**changes: Any) -> Explanation:
    place = {"table": "gu2020/table06", "row": "bc2gm", "column": "BERT", "scale": "demo"}
    return Explanation(**{**place, "value": {}, **changes})


def lines(explanation: Explanation, width: int = 120, whole: bool = True) -> list[str]:
    text = StringIO()
    print_explanation(Console(file=text, width=width, highlight=False, markup=False), explanation, whole)
    return [line.rstrip() for line in text.getvalue().splitlines()]


def test_a_cell_begins_with_its_verdict_and_published_values_keep_their_digits() -> None:
    value = {
        "value": 81.256, "difference": -0.75, "published": PUBLISHED | {"note": "from [1]"}, "n": 3,
        "expected": 5, "spread": None, "seeds": (), "interval": {"low": 80.123456, "high": [1.000049]},
    }  # fmt: skip
    found = lines(cell(value=value, refused="mixed data"))
    numbers = "81.26 here, 82.0 published, difference \N{MINUS SIGN}0.75, 3 of 5 runs"
    assert found[1:5] == [
        f"no verdict: {numbers}", "the published value: from [1]", "refused: mixed data", "scale: demo",
    ]  # fmt: skip
    assert found[6:] == [
        "Value", "  value: 81.26", "  difference: -0.75",
        "  published: value 82, printed 82.0, note from [1]", "  n: 3", "  expected: 5",
        "  interval: low 80.12, high 1",
    ]  # fmt: skip
    verdict = {"verdict": "reproduced", "why": "within 1.2", "margin": 1.2, "p": 0.0, "detectable": None}
    found = lines(cell(value=value | {"verdict": verdict}))
    assert found[1:3] == [f"reproduced: {numbers}", "within 1.2"]
    assert "  verdict: verdict reproduced, why within 1.2, margin 1.2, p 0" in found
    assert lines(cell(value={"published": PUBLISHED}))[1] == "nothing here, 82.0 published"
    assert lines(cell()) == ["gu2020/table06, bc2gm, BERT", "nothing here", "scale: demo"]


@pytest.mark.parametrize(("value", "published", "equal", "kind", "line"), [
    (True, "0", False, "boolean", "yes here, no published"),
    (True, None, None, "boolean", "yes here, nothing published"),
    (None, "1", None, "boolean", "not made yet, yes published"),
    (15197, "15197", True, "count", "15\N{NARROW NO-BREAK SPACE}197, as printed"),
    ("PubMed", "PubMed", True, "text", "PubMed, as printed"),
])  # fmt: skip
def test_a_fact_says_whether_it_is_as_printed(
    value: object, published: str | None, equal: bool | None, kind: str, line: str
) -> None:
    reason = "not made yet" if value is None else None
    fact = {"kind": kind, "value": value, "published": published, "equal": equal, "reason": reason}
    assert lines(cell(value=fact), whole=False)[1] == line


def test_runs_have_scores_or_failures_and_what_they_share_is_printed_once() -> None:
    found = lines(cell(runs=RUNS))[3:]
    table = [line.split() for line in found[: found.index("  commit (seed 1): abc")] if line.strip(" ─━")]
    assert table == [
        ["Run", "Seed", "Score", "On", "dev", "Time", "File"],
        ["bc2gm", "1", "81.25", "50.00", "1", "h", "2", "min", "runs/a.json"],
        ["bc2gm", "2", "nan", "50.00", "1", "h", "2", "min", "runs/b.json"], ["bc2gm", "3", "runs/c.json"],
    ]  # fmt: skip
    assert found[found.index("  commit (seed 1): abc") :][:4] == [
        "  commit (seed 1): abc", "  commit (seed 2): def", "  python: 3.11.9",
        "  machine: cores 1\N{NARROW NO-BREAK SPACE}200, gpus none",
    ]  # fmt: skip


def test_parts_have_the_name_in_which_they_differ() -> None:
    parts = (
        cell(row="bc5-chem", value={"value": 90.0, "n": 3, "expected": 5}),
        cell(column="BioBERT", value={"value": None, "missing": "no records"}),
    )
    found = [line.split() for line in lines(cell(parts=parts))[3:] if line.strip(" ─━")]
    assert found == [
        ["Part", "Ours", "Published", "Runs", "Missing"], ["bc5-chem", "90.00", "3", "of", "5"],
        ["BioBERT", "0", "of", "0", "no", "records"],
    ]  # fmt: skip


def test_accounts_are_indented_by_depth_and_values_are_in_words() -> None:
    recipe = {
        "learning_rate": 2e-5, "crf": False, "layers": [1, 2], "epochs": 1000,
        "search": {"tried": {"seed_1": {}, "x_y": 0.5}},
    }  # fmt: skip
    found = lines(cell(recipe=recipe, data=({"dataset": "bc2gm", "files": ()},), to_do=("make x",)))
    assert found[3:] == [
        "", "Resolved recipe", "  learning rate: 2e-05", "  crf: no", "  layers: 1, 2",
        "  epochs: 1\N{NARROW NO-BREAK SPACE}000", "  search:", "    tried:", "      seed_1: none",
        "      x_y: 0.5", "", "Data bc2gm", "  dataset: bc2gm", "  files: none", "",
        "How to make what is missing", "  make x",
    ]  # fmt: skip
