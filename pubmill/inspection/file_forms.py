"""How a dataset's files are read, and which of their columns are label, text and id."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from pubmill.errors import PubmillError

MOST_LABELS = 50
"""A column or key with more different values than this is no label."""
BY_HAND = "write the spec by hand, with a converter of your own if docs/converters.md lists no form that fits"


@dataclass(frozen=True)
class FileForm:
    """How a dataset's files are read. `writer`: the function and options that may write the same bytes;
    `others`: other readings of the same files (values of --as) and what they give."""

    kind: str
    task: str
    metric: str
    converter: str
    options: dict[str, Any] = field(default_factory=dict)
    writer: tuple[str, dict[str, Any]] | None = None
    negative: str | None = None
    others: dict[str, str] = field(default_factory=dict)


def label_of(values: Mapping[str, Sequence[str]], where: str, what: str) -> str:
    """Return the column or key with the fewest different values, of which none is long and most repeat."""
    sizes = {
        name: len(set(found))
        for name, found in values.items()
        if 1 < len(set(found)) <= min(MOST_LABELS, len(found) // 2) and max(map(len, found)) <= MOST_LABELS
    }
    if not sizes:
        raise PubmillError(f"{where}: no {what} looks like a label (few, short, repeated values); {BY_HAND}")
    return min(sizes, key=sizes.__getitem__)


def named_columns(values: Mapping[str, Sequence[str]], label: str) -> dict[str, str]:
    """Return column or key -> its content: label, text, and id if a short one has no value twice."""
    others = {name: found for name, found in values.items() if name != label}
    if not others:
        return {label: "label"}
    text = max(others, key=lambda name: fmean(map(len, others[name])))
    ids = [
        name
        for name, found in others.items()
        if name != text and Counter(found).most_common(1)[0][1] == 1 and max(map(len, found)) <= MOST_LABELS
    ]
    return {label: "label", text: "text", **({ids[0]: "id"} if ids else {})}
