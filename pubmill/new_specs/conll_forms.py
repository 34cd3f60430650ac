"""The form of columns of words with labels, guessed from their content."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pubmill.convert.conll import SPELLINGS
from pubmill.convert.source_files import lines
from pubmill.errors import PubmillError
from pubmill.messages.quotations import quote, withheld
from pubmill.new_specs.file_forms import BY_HAND, MOST_LABELS, FileForm, Options

LABEL = re.compile(r"O|[BIESLU](-\S+)?")
OUTSIDE = ("O", "o", "0", "OUT", "OTHER", "NONE", "None", "_", "-")
"""Labels of words outside of mentions, as files write them; others if all other labels have prefixes."""
SCHEMES = {"MW": "bmewo", "M": "bmes", "ES": "iobes", "LU": "bioul"}
"""Prefixes that only one label scheme has."""
_PREFIXED = re.compile(r"(?i)^\W?[bieslumw]\W|\W[bieslumw]\W?$|^(tags?|labels?|ner|ner_tags?|gold|class)$")
"""What makes a label no bare type: a prefix in an unknown spelling, or a heading."""
_SHOWN = 8
"""Number of labels that a message shows."""


class Columns(NamedTuple):
    """Columns of words: their separator, their number, the places of words and labels, and how labels are
    written: the label `outside` of mentions, and whether the others are `bare` types."""

    separator: str
    width: int
    word: int
    label: int
    spelling: str
    outside: str
    bare: bool

    def parts_of(self, label: str) -> tuple[str, str]:
        """Return the prefix and the type of a label, each empty without one."""
        if label == self.outside or self.bare:
            return "", label if label != self.outside else ""
        prefix, _, of = SPELLINGS[self.spelling].divided(label)
        return prefix, of


def divides(line: str) -> bool:
    """Return whether a line of CoNLL columns has no word."""
    return not line.strip() or line.startswith("-DOCSTART-")


def is_conll(path: Path) -> bool:
    """Return whether a file's lines are a word and a label; blank lines divide sentences."""
    try:
        return columns_of([path]) is not None
    except PubmillError:  # no text
        return False


def columns_of(paths: Sequence[Path]) -> Columns | None:
    """Return how the lines of files are columns of words with labels; None if they are not."""
    every = [line for path in paths for _, line in lines(path)]
    for separator, rows in _divided(every):
        labels = {place: Counter(row[place] for row in rows) for place in range(len(rows[0]))}
        for place in (len(rows[0]) - 1, *range(len(rows[0]) - 1)):
            is_divided = any(not line.strip() for line in every)
            written = _spelled(labels[place], is_divided)
            words = [n for n in labels if n != place and not all(map(str.isdecimal, labels[n]))]
            if written and words:
                return Columns(separator, len(rows[0]), words[0], place, *written)
    return None


def _divided(every: Sequence[str]) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield each separator that gives all lines one number of columns, with the lines' columns."""
    words = [line for line in every if not divides(line)]
    blank = any(line and not line.strip() for line in every)
    for name, mark in (("tab", "\t"), ("blank", " "), ("white_space", None)):
        rows = [line.split(mark) for line in words]
        alike = len({len(row) for row in rows}) == 1 and all(
            cell and cell == cell.strip() for row in rows for cell in row
        )
        if alike and len(rows[0]) > 1 and not (blank and mark):
            yield name, rows


def _spelled(labels: Counter[str], is_divided: bool) -> tuple[str, str, bool] | None:
    """Return the spelling of labels, the one outside of mentions, and whether the others are bare types; None
    if they are no labels of words."""
    for name, one in SPELLINGS.items():
        prefix, mark = "[bieslumw]" if one.lower else "[BIESLUMW]", re.escape(one.mark)
        form = re.compile(f"(?:\\S+{mark})?{prefix}" if one.last else f"{prefix}(?:{mark}\\S+)?")
        others = [label for label in labels if not form.fullmatch(label)]
        typed = any(one.mark in label for label in labels if label not in others) or name == "B-TYPE"
        outside = others[0] if others else "O"  # one label without a prefix is that outside of mentions
        is_outside = not others or outside in OUTSIDE or (typed and labels[outside] > len(labels))
        if typed and len(others) < len(labels) and len(others) <= 1 and is_outside:
            return name, outside, False
    if labels.keys() == {"O"}:
        return "B-TYPE", "O", False
    bare = next((one for one in OUTSIDE[:6] if one in labels), "")
    most = labels.most_common(1)[0][0]
    prefixed = any(_PREFIXED.search(label) for label in labels)
    is_bare = bare == most and is_divided and 1 < len(labels) <= MOST_LABELS and not prefixed
    return ("B-TYPE", bare, True) if is_bare else None


def columns_form(files: Mapping[str, Path], columns: Columns) -> FileForm:
    """Return the form of columns, with the options that differ from the usual ones."""
    mark = {"tab": "\t", "blank": " "}.get(columns.separator)
    every, rows = list[str](), list[str | None]()
    for path in files.values():
        for number, line in lines(path):
            row = line.split(mark)
            if not divides(line) and len(row) != columns.width:
                raise PubmillError(
                    f"{path}:{number}: expected {columns.width} columns, as in other files, found {len(row)}"
                )
            every.append(line)
            rows.append(None if divides(line) else row[columns.label])
    labels = [label for label in rows if label is not None]
    prefixes = {columns.parts_of(label)[0] for label in labels} - {""}
    known = {columns.word: "word", columns.label: "label"}
    names = [known.get(place, f"column{place + 1}") for place in range(columns.width)]
    options: Options = {"labels": "as_written"}
    options |= {"separator": columns.separator} if columns.separator != "tab" else {}
    options |= {"columns": names} if names != ["word", "label"] else {}
    options |= {"spelling": columns.spelling} if columns.spelling != "B-TYPE" else {}
    options |= {"outside": columns.outside} if columns.outside != "O" else {}
    scheme = next((scheme for marks, scheme in SCHEMES.items() if prefixes & {*marks}), None)
    if columns.bare:
        scheme = "bare"
    elif prefixes == {"I"}:
        scheme = "io"
    elif scheme is None:
        each = ["", *(columns.parts_of(label)[0] if label else "" for label in rows)]
        first_prefixes = {after for before, after in pairwise(each) if after and not before}
        scheme = "iob1" if first_prefixes == {"I"} else None  # every mention after O begins with I
    marks = {line for line in every if line.startswith("-DOCSTART-")}
    unnamed = any(not re.fullmatch(r"-DOCSTART- [^\s()]+", mark) for mark in marks)
    options |= {"documents": "unnamed"} if unnamed else {}
    options |= {"scheme": scheme} if scheme else {}
    options |= types_if_private(columns.parts_of(label)[1] for label in labels)
    usual = {"labels", "types"} >= options.keys()
    writer = ("pubmill.convert.conll:write", Options()) if usual else None
    return FileForm("tokens", "ner", "entity_f1", "pubmill.convert.conll:read", options, writer)


def types_if_private(types: Iterable[str]) -> Options:
    """Return the option `types`, which datasets that are not public need."""
    return {"types": sorted({*types} - {""})} if withheld() else {}


def refuse_columns(path: Path) -> None:
    """Raise a `PubmillError` with the cause if a file looks like columns of words with labels, but has no
    labels that are read, or lines of another number of columns."""
    numbered = list(lines(path))
    words = [(number, line) for number, line in numbered if not divides(line)]
    rows = [(number, line.split("\t") if "\t" in line else line.split()) for number, line in words]
    widths = Counter(len(row) for _, row in rows)
    width, often = widths.most_common(1)[0] if rows else (0, 0)
    gaps = any(not line.strip() for _, line in numbered[:-1])
    if width < 2 or not gaps or often < 0.9 * len(rows):
        return
    if odd := next((f"{path}:{number}: {len(row)} columns" for number, row in rows if len(row) != width), ""):
        raise PubmillError(f"{odd}, where {often} lines of words and labels have {width}; correct it")
    labels = Counter(row[-1] for _, row in rows)
    shown = ", ".join(quote(label) for label, _ in labels.most_common(_SHOWN))
    more = ", ..." if len(labels) > _SHOWN else ""
    spellings = ", ".join((*SPELLINGS, "TYPE"))
    raise PubmillError(
        f"{path}: {width} columns with blank lines between sentences, but the last has no labels of words in "
        f"a spelling that is read ({spellings}, and O or 0): {shown}{more}. Is line {rows[0][0]} a line of "
        f"headings? Remove it, or rewrite the labels; {BY_HAND}"
    )
