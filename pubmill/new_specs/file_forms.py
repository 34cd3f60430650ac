"""How a dataset's files are read, and which of their columns are label, text and id."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from statistics import fmean
from typing import Any

from pubmill.errors import PubmillError

MOST_LABELS = 50
"""A column or key with more different values than this is no label."""
TEXT_WORDS, PAIR_WORDS = 1.5, 3
"""Minimum mean number of words per value in the text column, and in a second text column."""
BY_HAND = "write the spec by hand, with a converter of your own if docs/converters.md lists no form that fits"

FEW_LABELS, MOST_OF_ROWS = 10, 0.25
"""More different values than this, in more than this share of the rows, are nearly all distinct."""
FEWEST_OF_INDEX = 4
"""Fewer different numbers than this are no index."""
_ID_NAME = re.compile(
    r"(?i:(^|[_@/. -])(ids?|idx|index|num|number|nr|no|pmid|pmcid|uid|guid|uuid|line|row|start|end))"
    r"$|[a-z](Id|ID|Idx|Index)$|#$"
)
_LABEL_NAME = re.compile(r"(?i)(^|[_@/])(labels?|class|gold|target|category|decision)$")
SPLITS = {"train": "(?<!pre)train", "dev": r"dev|valid|val", "test": "(?<!la)test|golden"}
"""Split -> pattern of file names (not `pretraining`, `latest`); BioASQ's tests are called golden."""
ROWS = "rows"
"""Role of a file with the rows of all splits."""


def split_of(name: str) -> str | None:
    """Return the split in a file's name, as a word (`retrieval-test` is test) or else inside a word."""
    for way in (r"(?<![a-z])(?:{})(?![a-z])", "{}"):
        for split, form in SPLITS.items():
            if re.search(way.format(form), name.lower()):
                return split
    return None


Options = dict[str, Any]
"""Options of a converter or a writer, as in a dataset's spec."""


@dataclass(frozen=True)
class Given:
    """What the user says of files. `reading` (--as): what documents or questions are read for; `offsets`: how
    they count; `misplaced`: mentions that differ from the text at their offsets are left out."""

    reading: str | None = None
    offsets: str = ""
    misplaced: bool = False


NOTHING = Given()


@dataclass(frozen=True)
class FileForm:
    """How a dataset's files are read. `writer`: the function and options that may write the same bytes;
    `others`: other readings of the same files (values of --as) and what they give; `unread`: columns or keys
    that are not read; `notes`: what the counts do not show, for the dataset's page."""

    kind: str
    task: str
    metric: str
    converter: str
    options: Options = field(default_factory=dict)
    writer: tuple[str, Options] | None = None
    negative: str | None = None
    others: dict[str, str] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def label_of(values: Mapping[str, Sequence[str]], where: str, what: str) -> str:
    """Return the column or key of the label: its values are few, short and repeated. Usual names (`label`)
    are preferred, then words to numbers (which may be counts or ids), then the fewest different values. Under
    other names, what identifies or counts rows is no label."""
    sizes = {
        name: len(set(cells))
        for name, cells in values.items()
        if 1 < len(set(cells)) <= min(MOST_LABELS, len(cells) // 2) and max(map(len, cells)) <= MOST_LABELS
    }
    identifying = [name for name in sizes if not is_label_name(name) and _identifies(name, values[name])]
    sizes = {name: size for name, size in sizes.items() if name not in identifying}
    if not sizes:
        more = f" ({', '.join(identifying)} would identify or count rows)" if identifying else ""
        fault = f"no {what} looks like a label (few, short, repeated values){more}"
        raise PubmillError(f"{where}: {fault}; {BY_HAND}")
    numbers = {name: all(map(str.isdecimal, values[name])) for name in sizes}
    return min(sizes, key=lambda name: (not is_label_name(name), numbers[name], sizes[name]))


def is_label_name(name: str) -> bool:
    """Return whether a column or key is named as labels are."""
    return _LABEL_NAME.search(name) is not None


def _identifies(name: str, values: Sequence[str]) -> bool:
    """Return whether a column identifies or counts: by its name, as too many of its values are different, or
    as its values are numbers, or end with one, and the same ones follow each other."""
    different = len(set(values))
    if _ID_NAME.search(name) or (different > FEW_LABELS and different > MOST_OF_ROWS * len(values)):
        return True
    if different < FEWEST_OF_INDEX or not all(re.search(r"\d$", value) for value in values):
        return False
    return sum(1 for _ in groupby(values)) == different


def named_columns(values: Mapping[str, Sequence[str]], label: str, where: str) -> dict[str, str]:
    """Return column or key -> its content: label; text; text_pair, if exactly one other column has texts too;
    and id, if a short one has no value twice."""
    others = {name: cells for name, cells in values.items() if name != label}
    longest = max(others, key=lambda name: fmean(map(len, others[name])), default=None)
    if longest is None or _words(others[longest]) < TEXT_WORDS:
        raise PubmillError(f"{where}: no column or key looks like a text (several words); {BY_HAND}")
    texts = [name for name in others if name == longest or _words(others[name]) >= PAIR_WORDS]
    is_pair = len(texts) == 2 and all(value.strip() for key in texts for value in others[key])
    short = {name: cells for name, cells in others.items() if max(map(len, cells)) <= MOST_LABELS}
    ids = [name for name in short if name not in texts and len(set(short[name])) == len(short[name])]
    named = dict(zip(texts if is_pair else [longest], ("text", "text_pair"), strict=False))
    return {label: "label", **named, **({ids[0]: "id"} if ids else {})}


def _words(values: Sequence[str]) -> float:
    return fmean(len(value.split()) for value in values)


def score_of(values: Mapping[str, Sequence[str]]) -> str | None:
    """Return the column or key whose values are numbers, not all of them whole; None if there is none."""
    for name, cells in values.items():
        with suppress(ValueError):
            if not all(number.is_integer() for number in list(map(float, cells))):
                return name
    return None
