"""Every value of a spec has a statement on its paper, and docs/fidelity.md is made from them."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from pubmill.specs.fidelity import ALL_PAPERS, FidelityRow, rows
from pubmill.specs.spec_types import Statement
from tests.fidelity_faults import faults
from tests.fidelity_page import PAGE, STANDINGS, page_names, pages

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


@pytest.fixture(scope="module")
def made(root: Path) -> dict[str, str]:
    return pages(root / "specs")


def test_every_statement_is_on_the_page_of_its_paper(root: Path, made: dict[str, str]) -> None:
    assert made.keys() == page_names(root / "specs")
    for row in rows(root / "specs"):
        page = made[f"fidelity/{row.paper.replace(' ', '-')}.md"]
        assert f"### {row.spec}\n" in page and f"\n| {row.about} | " in page.replace("\\|", "|"), row.about


def test_links_between_the_pages_lead_to_sections(made: dict[str, str]) -> None:
    for path, text in made.items():
        for target, anchor in re.findall(r"\]\((?:\.\./)?((?:fidelity/)?[\w-]*(?:\.md)?)#([^)]*)\)", text):
            headings = re.findall("(?m)^#+ (.*)$", made[target or path])
            slugs = {re.sub(r"[^a-z0-9 _-]", "", one.lower()).replace(" ", "-") for one in headings}
            assert anchor in slugs, (path, target, anchor)


def test_the_first_page_ranks_what_differs_and_counts_all_statements(
    root: Path, made: dict[str, str]
) -> None:
    found = rows(root / "specs")
    counts = [sum(row.statement.standing == one for row in found) for one in STANDINGS]
    assert f"| all | {' | '.join(map(str, counts))} | {len(found)} |" in made[PAGE]
    of_tables = {path.name for path in (root / "specs/tables").iterdir()}
    papers = of_tables - {"beyond", "real", "speedrun"} | {ALL_PAPERS}
    assert {row.paper for row in found} == papers
    first = made[PAGE].split("## How to read")[0]
    shown = [line.split(" | ")[2:] for line in first.splitlines() if line.startswith("| [")]
    assert shown and all(int(cells) > 0 for cells, _ in shown)
    assert "not measured" in first and "## By table" in made[PAGE]
    assert all("## By section" in made[f"fidelity/{paper}.md"] for paper in papers - {ALL_PAPERS})


def test_every_default_of_a_recipe_has_a_statement(tmp_path: Path) -> None:
    path = tmp_path / "specs/choices/finetuning.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("name: finetuning\nmethod:\n  stride: {ours: not stated}\n")
    found = faults(tmp_path / "specs")
    assert any(fault.endswith(": n_best has no statement under `method`") for fault in found)
    assert not any("stride" in fault or "learning_rate" in fault for fault in found)


@pytest.mark.parametrize(("text", "fault"), [
    (SPEC, "3: hyperparameters.epochs has no statement under `method`"),
    (SPEC + EPOCHS.replace("epochs", "epoch"), "6: the spec has no hyperparameters.epoch"),
    (SPEC.replace("paper: gu2020\n", "") + EPOCHS, "3: `method` needs `paper`"),
])  # fmt: skip
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
        keys=(("hyperparameters", "warmup"), ("hyperparameters", "dropout")),
    )


def test_an_own_spec_without_a_paper_needs_no_statements(tmp_path: Path) -> None:
    assert faults(of(tmp_path, "name: small\nhyperparameters: {epochs: 3}\n")) == []


PRINTED, AS_PROGRAM = {"section": "1", "says": "a"}, {"program": PROGRAM}


@pytest.mark.parametrize(("given", "standing"), [
    (PRINTED, "as printed"), ({"ours": "a"}, "ours"), (PRINTED | {"ours": "b"}, "ours"),
    (PRINTED | {"differs": "b"}, "differs"), (AS_PROGRAM, "as the program"),
    (PRINTED | AS_PROGRAM, "as the program"),
    (AS_PROGRAM | {"ours": "the program decides only half of it"}, "ours"),
    (AS_PROGRAM | {"differs": "b"}, "differs"), ({"section": "1"}, None), ({"says": "a"}, None),
    ({"differs": "a"}, None), ({"program": "no commit: a"}, None),
    ({"program": "owner/name@0123abc no text"}, None), (PRINTED | {"ours": "b", "differs": "c"}, None),
])  # fmt: skip
def test_a_statement_has_one_of_four_standings_and_no_half(
    given: dict[str, str], standing: str | None
) -> None:
    if standing:
        assert Statement.model_validate(given).standing == standing
    else:
        with pytest.raises(ValidationError):
            Statement.model_validate(given)
