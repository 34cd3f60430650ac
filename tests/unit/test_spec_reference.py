"""The reference pages: current, and with a meaning for every key."""

import pytest

from tests import spec_reference
from tests.spec_reference import PAGES, descriptions, keys, models


def test_the_pages_are_current() -> None:
    outdated = [path.name for path in spec_reference.outdated()]
    assert outdated == [], "write them: .venv/bin/python -m tests.spec_reference --write"


@pytest.mark.parametrize("page", PAGES)
def test_every_key_has_a_meaning(page: str) -> None:
    found = dict.fromkeys(one for kind in PAGES[page][2] for one in models(kind))
    lacking = {one.__name__: keys(one).keys() - descriptions(one).keys() for one in found}
    assert not any(lacking.values()), (
        f"{lacking}: describe them in the class's docstring: - `key`: its meaning."
    )
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
        "above": "its key",
        "one": "both, of `three` (here)",
        "two": "both, of `three` (here)",
        "four": "more: with a colon",
        "five": "in a paragraph",
        "six": "none",
        "seven": "over two lines",
    }
