"""What is doubtful in a converted dataset: the same data in several splits, and labels that look wrong."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from pubmill.examples.kinds import SPLITS
from pubmill.tables.dataset_cards import Card

_SHOWN = 8
"""Number of labels that a line names."""


def cautions(card: Card) -> tuple[str, ...]:
    """Return a line, with its counts, for each doubt: the same bytes, inputs or documents in two splits;
    labels that a split lacks; labels that differ in case or white space; identifiers that repeat."""
    return (*_same_files(card), *_shared(card), *_repeated(card), *_lacking(card), *_alike(card))


def _same_files(card: Card) -> Iterator[str]:
    for one, other in combinations(card.sources.items(), 2):
        splits = [role.partition("_")[0] for role in (one[0], other[0])]
        if one[1].sha256 == other[1].sha256 and splits[0] != splits[1] and {*splits} <= {*SPLITS}:
            yield f"{splits[1]} and {splits[0]} are of files with the same {one[1].bytes:,} bytes"


def _shared(card: Card) -> Iterator[str]:
    for one in card.overlaps:
        where = f"of {one.split} {{}} also in {one.earlier}"
        if one.texts:
            yield f"{_number(one.texts, 'input')} {where.format('are' if one.texts > 1 else 'is')}"
        if one.documents:
            are = "are" if one.documents > 1 else "is"
            yield f"{_number(one.documents, 'document')} {where.format(are)}, by identifier"


def _repeated(card: Card) -> Iterator[str]:
    for split in card.splits:
        if number := card.count(split, "repeated_documents"):
            yield f"{number:,} times a document of {split} has the identifier of an earlier one"


def _lacking(card: Card) -> Iterator[str]:
    """Yield lines on labels of train that other splits lack, and of others that train lacks."""
    counts = {split: _labels(card, split) for split in card.splits}
    for split in card.splits[1:] if "train" in counts else ():
        for one, other in ((split, "train"), ("train", split)):
            if lacking := {name: n for name, n in counts[one].items() if not counts[other][name]}:
                what = f"{_number(len(lacking), 'label')} of {one} {'are' if len(lacking) > 1 else 'is'}"
                yield f"{what} not in {other}: {_listed(lacking.items())}"


def _alike(card: Card) -> Iterator[str]:
    totals = sum((_labels(card, split) for split in card.splits), Counter[str]())
    groups = defaultdict[str, list[tuple[str, int]]](list)
    for name, number in sorted(totals.items()):
        groups[" ".join(name.casefold().split())].append((name, number))
    for alike in groups.values():
        if len(alike) > 1:
            quoted = _listed((repr(name), number) for name, number in alike)
            yield f"{len(alike)} labels differ only in case or white space: {quoted}"


def _labels(card: Card, split: str) -> Counter[str]:
    """Return label or type -> its number in a split, without those that do not occur."""
    kind = card.labels
    counted = {name: card.count(split, kind + name) or 0 for name in card.counted_names(kind) if kind}
    return Counter({name: number for name, number in counted.items() if number})


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number > 1 else ''}"


def _listed(numbers: Iterable[tuple[str, int]]) -> str:
    shown = [f"{name} ({number:,})" for name, number in numbers]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")
