"""Every value of a spec has a statement on its paper, and docs/fidelity.md is made from them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from pubmill.specs.fidelity import FidelityRow, faults, rows
from pubmill.specs.spec_types import Statement
from tests.fidelity_page import STANDINGS, as_markdown

SPEC = """\
name: small
paper: gu2020
hyperparameters: {epochs: 3, warmup: 0.1, dropout: 0.1}
method:
  hyperparameters.warmup, hyperparameters.dropout: {section: "6.2", says: a tenth of each}
"""
PROGRAM = "owner/name@0123abc train.py: batches are sorted"
EPOCHS = "  hyperparameters.epochs: {ours: not stated}\n"


def of(folder: Path, text: str) -> Path:
    path = folder / "specs/protocols/small.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder / "specs"


def test_every_value_has_a_statement_and_every_statement_a_value(root: Path) -> None:
    assert faults(root / "specs") == []


def test_the_page_is_made_from_the_specs(root: Path) -> None:
    page = (root / "docs/fidelity.md").read_text(encoding="utf-8")
    assert page == as_markdown(root / "specs"), "run python -m tests.fidelity_page --write"


def test_the_page_counts_its_rows(root: Path) -> None:
    page, found = as_markdown(root / "specs"), rows(root / "specs")
    counts = [sum(row.statement.standing == one for row in found) for one in STANDINGS]
    assert f"| all | {' | '.join(map(str, counts))} | {len(found)} |" in page
    assert {row.paper for row in found} >= {"gu2020", "tinn2021", "lewis2020", "shin2020", "alrowili2021"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (SPEC, "3: hyperparameters.epochs has no statement under `method`"),
        (SPEC + EPOCHS.replace("epochs", "epoch"), "6: the spec has no hyperparameters.epoch"),
        (SPEC.replace("paper: gu2020\n", "") + EPOCHS, "3: `method` needs `paper`"),
    ],
)
def test_what_is_missing_is_located(tmp_path: Path, text: str, fault: str) -> None:
    assert f"specs/protocols/small.yaml:{fault}" in faults(of(tmp_path, text))


def test_a_statement_covers_all_below_its_key_and_shows_the_values(tmp_path: Path) -> None:
    folder = of(tmp_path, SPEC + EPOCHS)
    assert faults(folder) == []
    assert faults(of(tmp_path, SPEC.split("method:")[0] + "method:\n  hyperparameters: {ours: all}\n")) == []
    [both, _] = rows(of(tmp_path, SPEC + EPOCHS))
    assert both == FidelityRow(
        paper="gu2020",
        spec="protocols/small",
        about="hyperparameters: warmup, dropout",
        here="warmup: 0.1; dropout: 0.1",
        statement=Statement(section="6.2", says="a tenth of each"),
    )


def test_an_own_spec_without_a_paper_needs_no_statements(tmp_path: Path) -> None:
    assert faults(of(tmp_path, "name: small\nhyperparameters: {epochs: 3}\n")) == []


@pytest.mark.parametrize(
    ("given", "standing"),
    [
        ({"section": "1", "says": "a"}, "as printed"),
        ({"ours": "a"}, "ours"),
        ({"section": "1", "says": "a", "ours": "b"}, "ours"),
        ({"section": "1", "says": "a", "differs": "b"}, "differs"),
        ({"program": PROGRAM}, "as the program"),
        ({"section": "1", "says": "a", "program": PROGRAM}, "as the program"),
        ({"program": PROGRAM, "ours": "the program decides only half of it"}, "ours"),
        ({"program": PROGRAM, "differs": "b"}, "differs"),
    ],
)
def test_a_statement_has_one_of_four_standings(given: dict[str, str], standing: str) -> None:
    assert Statement.model_validate(given).standing == standing


@pytest.mark.parametrize(
    "given",
    [
        {"section": "1"},
        {"says": "a"},
        {"differs": "a"},
        {"program": "no commit: a"},
        {"program": "owner/name@0123abc no text"},
        {"section": "1", "says": "a", "ours": "b", "differs": "c"},
    ],
)
def test_half_a_statement_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Statement.model_validate(given)
