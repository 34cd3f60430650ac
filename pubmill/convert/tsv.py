"""Reader and writer of tab-separated text, the form in which most sequence datasets are distributed.

There is no quoting: a quotation mark is an ordinary character, and a cell contains neither tab nor line feed.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pubmill import recipes
from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, one_line, renamed, table
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.messages.quotations import quote
from pubmill.recipes.recipe_types import StrictRecipe

READ = ("id", "document", "text", "text_pair", "label", "number", "skip")
"""Possible contents of a column. `number` must be the row's number, counted from 0; `skip` is not read."""

WRITTEN = ("number", "id", "document", "text", "text_pair", "label", "score", "dummies")
"""Possible contents of a column of a published form; `dummies` is the text with a dummy for each mention."""


class Layout(StrictRecipe):
    """Layout of a file: the options of `read` in a spec."""

    columns: list[str]
    labels: list[str] | dict[str, str]
    header: list[str] | None = None
    entities: dict[str, str] | None = None
    first_row: int = 1
    last_row: int | None = None

    def __post_init__(self) -> None:
        used = [name for name in self.columns if name != "skip"]
        if not set(used) <= set(READ) or not {"text", "label"} <= set(used) or len(set(used)) < len(used):
            raise PubmillError(
                f"the converter's option `columns` is {self.columns}; give for each column one of "
                f"{', '.join(READ)}, `text` and `label` among them, and only `skip` more than once"
            )


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split.

    Options, of which those under a split's name apply to it only: `columns`, the contents of the columns in
    order (`text`, `text_pair`, `label`, `id`, `document`, `number`, `skip`); `labels`, the allowed labels, or
    a mapping from the file's labels; `header`, the headings in the first line; `entities`, dummy in the
    text -> type of its mention; `first_row` and `last_row`, counted from 1 without the header.

    Ids are `SPLIT-000001`, ... if no column contains them. Rows that are not selected are counted as left
    out. A `PubmillError` names the file and line of anything in another form.
    """
    layout = source.options_as(Layout)
    for number, (where, cells) in enumerate(table(source.of_split(), layout.columns, layout.header), 1):
        if layout.first_row <= number <= (layout.last_row or number):
            place = f"{source.split}-{number - layout.first_row + 1:06d}"
            yield _example(cells, layout, number - 1, place, where)
        else:
            source.left_out["rows_outside_the_cut"] += 1


def _example(cells: dict[str, str], layout: Layout, number: int, place: str, where: str) -> SequenceExample:
    for name in ("id", "document", "text", "text_pair"):
        if name in cells and not cells[name].strip():
            raise PubmillError(f"{where}: the column `{name}` is empty")
    if cells.get("number", str(number)) != str(number):
        raise PubmillError(f"{where}: expected the row's number {number}, found {quote(cells['number'])}")
    label = renamed(cells["label"], layout.labels)
    if label is None:
        raise PubmillError(
            f"{where}: expected a label ({', '.join(layout.labels)}), found {quote(cells['label'])}"
        )
    text = one_line(cells["text"])
    return SequenceExample(
        id=cells.get("id", place),
        document=cells.get("document"),
        text=text,
        text_pair=one_line(cells["text_pair"]) if "text_pair" in cells else None,
        label=label,
        entities=[_dummy_mention(text, dummy, of, where) for dummy, of in (layout.entities or {}).items()],
    )


def _dummy_mention(text: str, dummy: str, of: str, where: str) -> Entity:
    """Return the mention of a dummy, with the span of the dummy itself, because the name is lost."""
    if text.count(dummy) != 1:
        raise PubmillError(f"{where}: expected {dummy} once in the text, found it {text.count(dummy)} times")
    start = text.index(dummy)
    return Entity(start=start, end=start + len(dummy), type=of)


class Written(StrictRecipe):
    """The options of `write`: `columns`, names in `WRITTEN`; `header`, as many headings, or null."""

    columns: list[str]
    header: list[str] | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.columns) - set(WRITTEN))
        if unknown or not self.columns:
            raise PubmillError(
                f"published.options.columns is {self.columns}, {unknown} unknown; known are {list(WRITTEN)}"
            )


def write(examples: Sequence[Any], form: WriterOptions) -> Iterator[str]:
    """Yield one row per example. Options: `columns`, of `WRITTEN` (`number`, `id`, `document`, `text`,
    `text_pair`, `label`, `score`, `dummies`), and `header`, as many headings."""
    layout = recipes.build(Written, dict(form.options), "published.options")
    if layout.header is not None:
        yield "\t".join(layout.header) + "\n"
    for number, example in enumerate(examples):
        try:
            cells = [_cell(name, number, example, form) for name in layout.columns]
        except AttributeError as error:
            raise PubmillError(f"published.options.columns is {layout.columns}, but {error}") from None
        if any(mark in cell for cell in cells for mark in "\t\n\r"):
            raise PubmillError(f"example {example.id} has a tab or line feed, which this form cannot contain")
        yield "\t".join(cells) + "\n"


def _cell(name: str, number: int, example: Any, form: WriterOptions) -> str:
    if name == "number":
        return str(number)
    if name == "dummies":
        return form.with_dummies(example).text
    value = getattr(example, name)
    return "" if value is None else str(value)
