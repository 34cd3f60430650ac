"""Tables of predictions: BLURB's published forms with predicted labels, or a table of ids and labels, with
tabs or, with headings, commas between the cells."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NoReturn

from pubmill.convert.hoc import HALLMARKS
from pubmill.errors import PubmillError
from pubmill.messages.quotations import quote, show
from pubmill.messages.wording import SHOWN
from pubmill.predictions.rows import Key, PredictionRow

IDS = ("id", "index", "pair_id")
OUTPUTS = ("output", "response", "completion", "generated_text")
"""Headings of free strings of a language model."""
PREDICTED = (
    "prediction", "predictions", "predicted", "pred", "preds", "predicted_label", "pred_label", "y_pred",
    "label", "labels", "score", "answer", *OUTPUTS,
)  # fmt: skip
TEXTS = (
    "document", "text", "text_pair", "dummies", "sentence", "sent1", "sent2", "question", "context",
)  # fmt: skip
"""Headings of ids, predictions and inputs."""
GOLD = (
    "gold", "gold_label", "gold_labels", "target", "expected", "reference", "y_true", "true_label",
)  # fmt: skip
KNOWN = {*IDS, *PREDICTED, *TEXTS, *GOLD}
MISSING = "?"
"""Stands in `pubmill inputs` where the prediction belongs."""
SEPARATOR = "|"
"""Separates the labels of a document."""
_FLAGS = re.compile(r"\d+_[01](,\d+_[01])*")
_SENTENCE = re.compile(r"(.+)_s(\d{1,9})")


def is_tsv(lines: Sequence[str]) -> bool:
    """Return whether every line has the same number of columns, at least two."""
    counts = {line.count("\t") for line in lines if line}
    return len(counts) == 1 and 0 not in counts


def is_csv(first: str) -> bool:
    """Return whether a file's first line has headings with commas between them."""
    return "\t" not in first and _are_headings(first.split(","), (*IDS, *PREDICTED))


def _are_headings(cells: Sequence[str], marks: Sequence[str] = ()) -> bool:
    """Return whether cells are headings: all known, or one of them of `marks`."""
    header = {cell.strip().strip('"').casefold() for cell in cells}
    return len(cells) > 1 and (header <= KNOWN or not header.isdisjoint(marks))


def read_csv(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield a row for each record of a CSV file with headings; quoted cells may have several lines."""
    reader = csv.reader((f"{line}\n" for line in lines), strict=True)
    try:
        cells = [(f"{where}:{reader.line_num}", record) for record in reader if record]
    except csv.Error as error:
        raise PubmillError(f"{where}:{reader.line_num}: not valid CSV: {error}") from None
    if cells and not _are_headings(cells[0][1]):
        _refuse_headings(cells[0][1], where)
    yield from _read(cells, where)


def read(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield a row for each line; the first one may be a header, else ids are first and predictions last."""
    cells = [(f"{where}:{number}", line.split("\t")) for number, line in enumerate(lines, 1) if line]
    yield from _read(cells, where)


def _read(cells: Sequence[tuple[str, list[str]]], where: str) -> Iterator[PredictionRow]:
    if not cells:
        raise PubmillError(f"{where}: no lines")
    width = len(cells[0][1])
    for place, row in cells:
        if len(row) != width or width < 2:
            raise PubmillError(f"{place}: expected {max(width, 2)} columns, found {len(row)}")
    header = [cell.strip().casefold() for cell in cells[0][1]]
    if _are_headings(header, IDS):
        if not _are_headings(header):
            _refuse_headings(header, where)
        named, rows = _layout(header, cells[0][0]), cells[1:]
        key: Key = "output" if header[named[1]] in OUTPUTS else "prediction"
    else:
        named, rows, key = (0, width - 1), cells, "prediction"
    if rows and all(_FLAGS.fullmatch(row[named[1]]) for _, row in rows):
        yield from _sentence_flags(rows, *named)
    else:
        yield from _rows(rows, *named, key)


def _refuse_headings(cells: Sequence[str], where: str) -> NoReturn:
    strange = [show(one.strip()) for one in cells if one.strip().casefold() not in KNOWN]
    what = f"unknown headings {', '.join(strange[:SHOWN])}" if len(cells) > 1 else "no headings"
    raise PubmillError(
        f"{where}:1: {what} in the first line; expected an id ({', '.join(IDS)}), a prediction "
        f"({', '.join(PREDICTED)}) and possibly the input ({', '.join(TEXTS)}), such as id,prediction"
    )


def _layout(header: list[str], place: str) -> tuple[int | None, int]:
    if gold := [name for name in header if name in GOLD]:
        raise PubmillError(f"{place}: the column {gold[0]} holds gold labels; give predictions only")
    ids = [number for number, name in enumerate(header) if name in IDS]
    predicted = [number for number, name in enumerate(header) if name in PREDICTED]
    if len(predicted) != 1 or len(ids) > 1:
        shown = ", ".join(header[number] for number in predicted) or "none"
        raise PubmillError(
            f"{place}: expected one column of predictions ({', '.join(PREDICTED)}) and at most one of ids "
            f"({', '.join(IDS)}); columns of predictions: {shown}. A gold label does not belong into the file"
        )
    return (ids[0] if ids else None), predicted[0]


def _rows(
    rows: Sequence[tuple[str, list[str]]], of_id: int | None, predicted: int, key: Key
) -> Iterator[PredictionRow]:
    ids = [None if of_id is None else row[of_id] for _, row in rows]
    numbered = ids == [str(number) for number in range(len(rows))]
    for (place, row), name in zip(rows, ids, strict=True):
        if row[predicted] == MISSING:
            raise PubmillError(f"{place}: no prediction, only the {MISSING} of the inputs")
        texts = tuple(cell for number, cell in enumerate(row) if number not in (of_id, predicted))
        # in BLURB's tables the index is a line number, so their rows are identified by the texts
        known = None if numbered and any(texts) else name
        yield PredictionRow(where=place, id=known, key=key, value=row[predicted], texts=texts)


def _sentence_flags(
    rows: Iterable[tuple[str, list[str]]], of_id: int | None, flags: int
) -> Iterator[PredictionRow]:
    """Yield a row per document of BLURB's form of HoC: labels of a document are those of its sentences."""
    named = []
    for place, row in rows:
        text = " ".join(cell for number, cell in enumerate(row) if number not in (of_id, flags))
        match = _SENTENCE.fullmatch(row[of_id]) if of_id is not None else None
        numbers = [flag.partition("_")[0] for flag in row[flags].split(",")]
        if match is None or numbers != [str(number) for number in range(len(HALLMARKS))]:
            raise PubmillError(
                f"{place}: expected a flag for each of {len(HALLMARKS)} hallmarks (0_0,1_1,...) and an index "
                f"PMID_sN, found {quote(row[flags])} and {quote('' if of_id is None else row[of_id])}"
            )
        marked = zip(HALLMARKS, row[flags].split(","), strict=True)
        labels = [label for label, flag in marked if flag.endswith("_1")]
        named.append((match[1], int(match[2]), place, labels, text))
    for document, grouped in groupby(named, itemgetter(0)):
        _, order, places, labels_of, texts_of = zip(*grouped, strict=True)
        if order != tuple(range(len(order))):
            raise PubmillError(f"{places[0]}: the sentences of {show(document)} are not numbered s0, s1, ...")
        value = sorted({label for labels in labels_of for label in labels})
        texts = (" ".join(texts_of),) if any(texts_of) else ()
        yield PredictionRow(where=places[0], id=document, key="labels", value=value, texts=texts)
