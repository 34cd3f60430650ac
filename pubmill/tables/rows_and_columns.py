"""Find rows and columns of tables by key, label, or the beginning of either."""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes.fact_tables import FactTableColumn, FactTableRow
from pubmill.recipes.tables import Column, Row

Named = TypeVar("Named", Row, Column, FactTableRow, FactTableColumn)


def matching_items(name: str, among: Sequence[Named], key: Callable[[Any], str]) -> list[Named]:
    """Return the items that match `name` by the first rule that finds any: the key is `name`; the label is;
    the first word of key or label is; key or label begins with it. All but the first rule ignore case."""
    wanted = name.casefold()
    names = [(one, key(one), key(one).casefold(), one.label.casefold()) for one in among]
    ways = (
        [one for one, exact, _, _ in names if exact == name],
        [one for one, _, _, label in names if label == wanted],
        [one for one, *_, low, label in names if wanted in (_first_word(low), _first_word(label))],
        [one for one, *_, low, label in names if low.startswith(wanted) or label.startswith(wanted)],
    )
    return next(filter(None, ways), [])


def _first_word(name: str) -> str:
    return re.split(r"[\s@-]", name, maxsplit=1)[0]


def find_unique(what: str, name: str, among: Sequence[Named], key: Callable[[Any], str]) -> Named:
    """Return the item with this name; raise a `PubmillError` with the candidates if it is not unique."""
    matches = matching_items(name, among, key)
    if len(matches) == 1:
        return matches[0]
    if matches:
        meant = ", ".join(label_and_key(key(one), one.label) for one in matches)
        raise PubmillError(f"{name!r} matches several {what}s; give the key of one: {meant}")
    raise PubmillError(unknown(what, name, [label_and_key(key(one), one.label) for one in among]))


def label_and_key(key: str, label: str) -> str:
    return key if key == label else f"{label} ({key})"
