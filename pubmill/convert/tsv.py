"""Tab-separated text: the published form of most sequence datasets."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pubmill.convert.published import Form
from pubmill.errors import PubmillError

COLUMNS: dict[str, Callable[[Any, Form], str]] = {
    "id": lambda example, form: example.id,
    "document": lambda example, form: example.document or "",
    "text": lambda example, form: example.text,
    "text_pair": lambda example, form: example.text_pair or "",
    "label": lambda example, form: example.label,
    "score": lambda example, form: f"{example.score:g}",
    "dummies": lambda example, form: form.with_dummies(example).text,
}
"""What a column can hold; `dummies` is the text with a dummy for each mention."""


def write(examples: Sequence[Any], form: Form) -> Iterator[str]:
    """One row an example. Options: `columns`, names of `COLUMNS`; `header`, a list of headings or null."""
    unknown = sorted(set(form.options["columns"]) - COLUMNS.keys())
    if unknown:
        raise PubmillError(f"published.options.columns: {unknown} are unknown; known are {sorted(COLUMNS)}")
    if form.options.get("header"):
        yield "\t".join(form.options["header"]) + "\n"
    for example in examples:
        yield "\t".join(COLUMNS[name](example, form) for name in form.options["columns"]) + "\n"
