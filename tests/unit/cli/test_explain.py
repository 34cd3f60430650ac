"""`pubmill explain`: which table, study and cell it explains, and in which form."""

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Said


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        ("gu2020/table06 --study small", "gu2020/table06: "), ("table12", "gu2020/table12: "),
        ("table09 --study gu2020", "gu2020/table09: "),
        ("gu2020/table06 bc2gm biobert --study gu2020", "gu2020/table06, BC2GM (bc2gm), BioBERT"),
    ],
)  # fmt: skip
def test_a_table_or_a_cell_is_explained_on_one_screen_whole_or_as_json(
    started: Said, words: str, heading: str
) -> None:
    screen, whole = started("explain", *words.split()), started("explain", *words.split(), "--all")
    assert screen.startswith(heading) and whole.startswith(heading)
    assert len(screen.splitlines()) < len(whole.splitlines())
    assert json.loads(started("explain", *words.split(), "--json"))["table"] == heading[:14]


def test_a_table_with_its_paper_needs_no_study_that_has_it(started: Said) -> None:
    for words in (["nobody/table01"], ["nobody/table01", "BC2GM", "BERT"]):
        assert "there is no table 'nobody/table01'" in started("explain", *words)


def test_a_cell_is_explained_by_the_study_with_its_settings(started: Said, checkout: Path) -> None:
    (checkout / "mine.yaml").write_text("mirror: null\n")
    more = ("--configfile", "mine.yaml", "--config", "results=there")
    said = started("explain", "gu2020/table09", "bc2gm", "pubmedbert-base", *more)
    assert said.splitlines()[-1].startswith("  .venv/bin/pubmill run gu2020 there/full/")
    assert said.splitlines()[-1].endswith(" --configfile mine.yaml --config results=there")
