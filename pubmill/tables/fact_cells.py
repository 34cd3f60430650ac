"""Build the cells of fact tables from specs, artefacts and published values.

A value that differs from the published one is shown with its documented reason; if there is none, the table
says so.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pandas import DataFrame
from safetensors import safe_open

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.fact_tables import (
    FactHeading,
    FactKind,
    FactTableColumn,
    FactTableRecipe,
    FactTableRow,
    FactValue,
)
from pubmill.recipes.tables import values_of
from pubmill.storage.files import read_json
from pubmill.tables.aggregation import machine
from pubmill.tables.dataset_cards import NAMED, Card, label_bias, read_card
from pubmill.tables.fact_table_models import FactCell, FactTable, pieces
from pubmill.tables.published_values import published_lines

UNKNOWN = ("[UNK]", "<unk>")
"""Pieces that represent text outside the vocabulary."""
NO_LABELS = "its examples have no labels that could be counted"
NO_MENTIONS = "its examples have no mentions"

Artefacts = dict[str, Any]
"""File below the results folder -> its content: a Card, a Record, or parsed JSON."""
Found = tuple[FactValue | None, str | None]
"""A value, or the reason why there is none."""


def read_artefacts(recipe: FactTableRecipe, results: Path) -> Artefacts:
    """Read all artefacts that a table's cells need."""
    read: dict[str, Callable[[Path], Any]] = {"parameters": numbers_of_weights}
    read |= dict.fromkeys(("count", "label_bias"), read_card)
    read |= dict.fromkeys(("seconds", "seconds_ratio"), read_record)
    facts = {column.key: column.fact for column in recipe.columns}
    sources = [(facts[key], source) for row in recipe.rows for key, source in row.sources.items()]
    files = {file: fact for fact, source in sources for file in source.paths}
    return {file: read.get(fact, read_json)(results / file) for file, fact in files.items()}


def found(row: FactTableRow, column: FactTableColumn, artefacts: Artefacts) -> Found:
    """Return a fact from its artefacts, or the reason why they lack it."""
    files = row.sources[column.key].paths
    own = artefacts[files[0]]
    match column.fact:
        case "count" | "label_bias":
            return _card_value(row, column, own)
        case "term":
            pieces = _nested_value(own, files[0], "terms", column.detail)
            return len(pieces) == 1 and pieces[0] not in UNKNOWN, None
        case "fit":
            split, _, dataset = column.detail.partition(".")
            keys = ("datasets", dataset, split, "entity_words", "subwords_per_word")
            rate = _nested_value(own, files[0], *keys)
            return rate, None if rate is not None else NO_MENTIONS
        case "parameters":
            return own, None
        case "sequences_per_second":  # without reading, predicting or evaluating
            if not (speed := own.get("tokens_per_second")):
                why = own.get("failed") or "it took no step"
                return None, f"the run of {row.subject} measured no speed: {why}"
            return round(own["steps"] * own["recipe"]["batch_size"] / (own["tokens"] / speed)), None
        case "masked_loss":  # on held-out documents, with the recipe's own masking
            masking = own["recipe"]["objective"]["masking"]
            loss = (own.get("held_out") or {}).get(masking, {}).get("mlm_loss")
            lacking = f"the pretraining of {row.subject} measured none on held-out documents"
            return loss, None if loss is not None else lacking
        case "seconds" | "seconds_ratio":
            return _seconds([artefacts[file] for file in files])
    value: FactValue = _nested_value(own, files[0], *column.detail.split("."))
    return value, None


def numbers_of_weights(path: Path) -> int:
    """Return how many numbers a safetensors file holds, from its header."""
    with safe_open(path, "numpy") as tensors:
        return sum(math.prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118


def _nested_value(value: Any, file: str, *keys: str) -> Any:
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            raise PubmillError(f"{file} lacks {'.'.join(keys)}; remove it and build it again")
        value = value[key]
    return value


def _card_value(row: FactTableRow, column: FactTableColumn, card: Card) -> Found:
    split = column.detail
    if split not in card.counts:
        return None, f"{row.subject} has no {split} split"
    if column.fact == "label_bias":
        bias = label_bias(card, split)
        return bias, None if bias is not None else NO_LABELS
    if row.measure not in card.counts[split] and not row.measure.startswith(NAMED):
        raise PubmillError(
            f"the table's row {row.subject} names the unknown measure {row.measure!r}; the measures counted "
            f"in {split} are {', '.join(card.counts[split])}"
        )
    number = card.count(split, row.measure)
    return number, None if number is not None else f"{row.measure} are not marked in {split} of {row.subject}"


def _seconds(records: list[Record]) -> Found:
    """Return the seconds of a run, or their ratio to another run's on the same kind of machine."""
    for record in records:
        if record.failed is not None:
            return None, f"the run of {record.model} failed: {record.failed}"
    if len({machine(record.hardware) for record in records}) > 1:
        return None, "the two runs were on different machines"
    first, *others = (record.seconds for record in records)
    return first / others[0] if others else first, None


_SIZES = {"k": 10**3, "m": 10**6, "b": 10**9, "gb": 10**9, "million": 10**6, "billion": 10**9}
_WHOLE = r"\d+|\d+(\.\d+)? ?([kKMB]|GB|million|billion)"
PATTERNS: dict[str, str] = {
    "text": r".+",
    "boolean": r"[01]",
    "ratio": r"\d+(\.\d+)?x?",
    "minutes": r"\d+:[0-5]\d",
    "learning_rate": r"\d+(\.\d+)?(e-\d+)?",
    **dict.fromkeys(("count", "words", "bytes", "epochs", "batch_size"), _WHOLE),
}
"""Kind -> pattern of its published values."""


def is_of_kind(printed: str, kind: str) -> bool:
    """Return whether a published value has the form of its kind."""
    return kind in PATTERNS and re.fullmatch(PATTERNS[kind], printed) is not None


def read_number(printed: str, kind: str) -> tuple[Decimal, Decimal]:
    """Return a printed number and the unit of its last digit: (4.5e9, 1e8) of `4.5 billion`."""
    if kind == "minutes":
        minutes, seconds = printed.split(":")
        return Decimal(int(minutes) * 60 + int(seconds)), Decimal(1)
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?(?:e(-\d+))? ?([a-zA-Z]*)", printed)
    assert match, "of its kind"
    size = Decimal(_SIZES.get(match[4].lower(), 1)).scaleb(int(match[3] or 0))
    decimals = match[2] or ""
    last = size.scaleb(-len(decimals))
    return Decimal(match[1] + decimals) * last, last


def is_equal(value: FactValue, printed: str, kind: FactKind) -> bool:
    """Return whether our value equals the printed one: text ignoring case, numbers to within half a unit of
    the last printed digit (62,500 is not `64K`, 0.512 is not `0.50x`)."""
    if isinstance(value, bool):
        return value == (printed == "1")
    if isinstance(value, str):
        return value.casefold() == printed.casefold()
    number, last = read_number(printed, kind)
    return abs(Decimal(repr(value)) - number) <= last / 2


UNEXPLAINED = "differs, and neither the specs nor this table say why"


NAMES = ["subject", "fact", "kind"]
"""Columns that identify a published fact."""


def read_facts(path: Path, recipe: FactTableRecipe) -> DataFrame:
    """Read `tableNN.published.csv` as a DataFrame; errors name file and line. Its columns:

    - `subject`, `fact`, `kind`: the names under which the fact is printed (the subject is the file's row, the
      fact its column); together they are unique.
    - `printed`: the fact as printed; empty if the paper's table leaves the cell empty, as the note explains.
    - `note`: a remark, or empty.
    """
    lines = published_lines(path)
    for line in lines.itertuples():
        kind, printed, note = line.metric, line.value, line.note
        if not (note if not printed else is_of_kind(printed, kind)):
            raise PubmillError(
                f"{line.Index}: {printed!r} is not a valid {kind!r}; expected one of the kinds "
                f"{', '.join(PATTERNS)} and a value of that kind, such as 5203, 1, 0.18 or NER, or no value "
                f"and an explaining note"
            )
    names = {"row": "subject", "column": "fact", "metric": "kind", "value": "printed"}
    return lines.rename(columns=names).reset_index(drop=True)[[*NAMES, "printed", "note"]]


def build(recipe: FactTableRecipe, published: DataFrame, artefacts: Artefacts) -> FactTable:
    """Build the table: every fact of every subject, with its published value."""
    places = [(row.published, one.published, one.kind) for row in recipe.rows for one in recipe.columns]
    names = published.set_index(NAMES).index
    if lost := [" / ".join(place) for place in names[~names.isin(places)]]:  # a misspelt name, for example
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell of their kind: "
            f"{', '.join(lost)}; correct the names in {recipe.table}.published.csv or in {recipe.table}.yaml"
        )
    facts = {tuple(names): (printed or None, note) for *names, printed, note in published.itertuples(False)}
    sources = [{key: source.complete for key, source in row.sources.items()} for row in recipe.rows]
    rows = tuple(replace(row, sources=of_row) for row, of_row in zip(recipe.rows, sources, strict=True))
    heading = values_of(FactHeading, recipe) | {"rows": rows}
    cells = {
        row.subject: {one.key: _fact_cell(recipe, row, one, artefacts, facts) for one in recipe.columns}
        for row in rows
    }
    machines = {machine(one.hardware) for one in artefacts.values() if isinstance(one, Record)}
    return FactTable(**heading, cells=cells, machines=tuple(sorted(machines)))


def _fact_cell(
    recipe: FactTableRecipe,
    row: FactTableRow,
    column: FactTableColumn,
    artefacts: Artefacts,
    published: Mapping[tuple[str, ...], tuple[str | None, str]],
) -> FactCell:
    source = row.sources[column.key]
    value, lacking = source.value, source.lacking
    if source.paths:
        value, lacking = found(row, column, artefacts)
    names = (row.published, column.published, column.kind)
    printed, note = published.get(names, (None, ""))
    silent = names in published and printed is None
    if names not in published and recipe.lists_members and column.kind == "boolean":
        printed = "0"
    label = f"printed as {row.label}".replace(" ", "").casefold()  # not noted if only spaces differ
    equal = None if value is None or printed is None else is_equal(value, printed, column.kind)
    differs = _difference_reason(row, column, printed) if equal is False else None
    if equal is False and source.scaled:
        equal = None
    return FactCell(
        kind=column.kind,
        value=value,
        published=printed,
        note="; ".join(part for part in pieces(note) if part.replace(" ", "").casefold() != label),
        silent=silent,
        equal=equal,
        reason=lacking if value is None else differs,
    )


def _difference_reason(row: FactTableRow, column: FactTableColumn, printed: str | None) -> str:
    """Return why our value differs: the effect of the scale, else the table's reason, else the conflicts in
    the dataset's spec that quote the printed value. For counts and ratios that none quotes, all conflicts."""
    said = row.sources[column.key].scaled or row.why.get(column.key)
    if said:
        return said
    naming = [text for text in row.conflicts if re.search(rf"(?<!\d){re.escape(printed or '')}(?!\d)", text)]
    others = row.conflicts if column.kind in ("count", "ratio") else ()
    return " ".join(naming or others) or UNEXPLAINED
