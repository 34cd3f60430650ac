"""The reference pages can be made, their links hold, and every key has a meaning."""

import posixpath
import re
from pathlib import Path

import pytest

from pubmill.corpus.filters import FILTERS
from pubmill.metrics import METRICS
from pubmill.metrics.scorers import PUBLISHED_SCORERS
from pubmill.specs import Specs
from tests import spec_reference
from tests.spec_reference import PAGE_NAMES, PAGES, descriptions, keys, models


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return spec_reference.pages()


def test_the_pages_are_those_that_are_named(made: dict[str, str]) -> None:
    assert made.keys() == {f"reference/{name}.md" for name in PAGE_NAMES}
    assert all(text.startswith("# ") and "make docs" in text for text in made.values())


def test_links_of_the_pages_lead_to_pages_and_their_sections(made: dict[str, str], root: Path) -> None:
    for page, text in made.items():
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
            path = posixpath.normpath(f"reference/{target}") if target else page
            there = made[path] if path in made else (root / "docs" / path).read_text(encoding="utf-8")
            headings = re.findall("^#+ (.*)$", there, re.M)
            assert not anchor or anchor in {one.lower().replace(" ", "-") for one in headings}, (page, target)


def test_the_registries_are_in_their_tables(made: dict[str, str], full_specs: Specs) -> None:
    scorers = {one.name for some in PUBLISHED_SCORERS.values() for one in some}
    for page, names in {
        "metrics": set(METRICS),
        "scorers": scorers,
        "filters": {one.__name__ for one in FILTERS},
        "list_of_datasets": set(full_specs.datasets),
        "recipes": set(full_specs.pretraining),
    }.items():
        assert names <= set(re.findall(r"(?m)^\| `([^`]+)` \|", made[f"reference/{page}.md"])), page
    verb = "### explain\n\n`pubmill explain [OPTIONS] {table} [row] [column]`"
    assert verb in made["reference/commands.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_key_has_a_meaning(page: str) -> None:
    found = dict.fromkeys(one for kind in PAGES[page][2] for one in models(kind))
    lacking = {one.__name__: keys(one).keys() - descriptions(one).keys() for one in found}
    assert not any(lacking.values()), "describe them in the class's docstring: - `key`: its meaning."
    assert all(text.strip() for one in found for text in descriptions(one).values())


def test_descriptions_are_read_from_lists_and_running_text() -> None:
    class Base:
        """Words of a base. `above`: its key."""

    class Below(Base):
        """A class. `one`, `two`: both, of `three` (here); `four`: more: with a colon.

        Part: `five`: in a paragraph.

        - `six` null: none.
        - `seven` (tokens): over
          two lines.
        """

    assert descriptions(Below) == {
        "above": "its key", "one": "both, of `three` (here)", "two": "both, of `three` (here)",
        "four": "more: with a colon", "five": "in a paragraph", "six": "none", "seven": "over two lines",
    }  # fmt: skip
