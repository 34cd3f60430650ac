"""The forms of predictions: how each is recognised, and its reader."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.formats import text_files
from pubmill.formats.document_files import ARCHIVES, annotated_documents
from pubmill.formats.json_text import parse_json
from pubmill.messages.wording import unknown
from pubmill.predictions import conll_form, document_forms, json_forms, ordered_form, tsv_form
from pubmill.predictions.predictions import Normaliser
from pubmill.predictions.rows import PredictionRow
from pubmill.storage.privacy import PUBLIC


@dataclass(frozen=True)
class PredictionFile:
    """A file of predictions. `text`: its content, empty for an archive; `examples`, `normaliser`: those of
    the dataset."""

    path: Path
    text: str
    examples: Sequence[Any]
    normaliser: Normaliser


@dataclass(frozen=True)
class Form:
    """A form of predictions.

    - `description`: what a file of it has.
    - `recognised`: whether a text has it, if it has none of the forms before it in `FORMS`.
    - `read`: the rows of a file; a `PubmillError` if it is damaged.
    - `end`: what ends a whole file, where that alone shows whether the last entry is complete.
    """

    description: str
    recognised: Callable[[str], bool]
    read: Callable[[PredictionFile], Iterable[PredictionRow]]
    end: str = ""


def _of_lines(
    read: Callable[[Sequence[str], str], Iterable[PredictionRow]],
) -> Callable[[PredictionFile], Iterable[PredictionRow]]:
    return lambda file: read(file.text.removesuffix("\n").split("\n"), str(file.path))


def _of_documents(form: str) -> Callable[[PredictionFile], Iterable[PredictionRow]]:
    def read(file: PredictionFile) -> Iterable[PredictionRow]:
        try:
            documents = list(annotated_documents(file.path, form))
        except PubmillError:
            if file.normaliser.recipe.access == PUBLIC:
                raise
            raise PubmillError(
                f"{file.path}: not valid {form}; the message is withheld, as it may contain licensed text"
            ) from None
        return document_forms.rows_of(documents, file.examples, file.normaliser)

    return read


def _json_rows(file: PredictionFile) -> Iterable[PredictionRow]:
    return json_forms.read_document(parse_json(file.text, str(file.path), numbers_only=True), str(file.path))


def _first(text: str) -> str:
    return next((line for line in text.split("\n") if line.strip()), "")


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _first_object(text: str) -> dict[str, Any]:
    """Return the object that the first line is; empty if it is none."""
    try:
        line = json.loads(_first(text))
    except (ValueError, RecursionError):
        return {}
    return line if isinstance(line, dict) else {}


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a whole object with an id or with further lines."""
    line, several = _first_object(text), text.strip() != _first(text).strip()
    return bool(line) and "documents" not in line and (several or bool({"id", "example_id"} & line.keys()))


FORMS: dict[str, Form] = {
    "bioc-xml": Form(
        "a BioC collection as XML", lambda text: text.lstrip().startswith("<"), _of_documents("bioc-xml")
    ),
    "batch": Form(
        "a JSON line for each request to a language model, with custom_id, in the form of OpenAI's batches",
        lambda text: json_forms.is_batch(_first_object(text)),
        _of_lines(json_forms.read_batch),
    ),
    "jsonl": Form("a JSON object on each line", _is_json_lines, _of_lines(json_forms.read_lines)),
    "bioc-json": Form(
        "a BioC collection as JSON",
        lambda text: _is_json(text) and re.search(r'"documents"\s*:\s*\[', text[:100_000]) is not None,
        _of_documents("bioc-json"),
    ),
    "json": Form("a JSON object by id, or a list of objects", _is_json, _json_rows),
    "pubtator": Form(
        "PubTator: PMID|t|TITLE, PMID|a|ABSTRACT, then mentions",
        lambda text: re.match(r"[^|\t]+\|[ta]\|", _first(text)) is not None,
        _of_documents("pubtator"),
        end="a blank line",
    ),
    "csv": Form(
        "comma-separated columns with headings: an id, possibly the input, the prediction",
        lambda text: tsv_form.is_csv(_first(text)),
        _of_lines(tsv_form.read_csv),
        end="a line end",
    ),
    "conll": Form(
        "a word and its label on each line, in IOB1, IOB2, IOE, IOBES, BILOU or IO",
        lambda text: conll_form.is_conll(text.split("\n")),
        _of_lines(conll_form.read),
    ),
    "blurb-tsv": Form(
        "tab-separated columns: an id, possibly the input, the prediction",
        lambda text: tsv_form.is_tsv(text.split("\n")),
        _of_lines(tsv_form.read),
        end="a line end",
    ),
    "brat": Form(
        "an archive (zip, tar) of brat's ID.txt and ID.ann", lambda text: False, _of_documents("brat")
    ),
    "order": Form(
        "outputs of transformers' scripts and of LinkBERT, without ids",
        lambda text: False,
        lambda file: ordered_form.read(file.text, file.examples, file.normaliser.recipe, str(file.path)),
    ),
}
"""Form -> how it is recognised and read, in the order of recognition. `brat` is known by the name of an
archive, and `order` must be stated."""
ENDS = {"a line end": "\n", "a blank line": "\n\n"}


def read_text(path: Path) -> str:
    """Read a UTF-8 file, gzipped or not, without a byte order mark; line ends become line feeds."""
    text = text_files.read_text(path)
    if not text.strip():
        raise PubmillError(f"{path}: empty; expected a file of predictions")
    if "\0" in text:
        raise PubmillError(f"{path}: contains NUL characters, so it is no text")
    return text.replace("\r\n", "\n")


def form_of(text: str, where: str, stated: str | None = None) -> str:
    """Return the form that was stated, or the one that the content shows; a `PubmillError` if none does."""
    if stated is not None and stated not in FORMS:
        raise PubmillError(unknown("form", stated, FORMS))
    form = stated or next((name for name, one in FORMS.items() if text and one.recognised(text)), None)
    if form is None:
        known = "; ".join(f"{name}: {one.description}" for name, one in FORMS.items())
        raise PubmillError(
            f"{where}: the file has none of the known forms, or is damaged. Name its form with --form, for "
            f"example --form conll, to see where it is damaged. Known forms: {known}"
        )
    return form


def read_rows(path: Path, examples: Sequence[Any], normaliser: Normaliser) -> tuple[str, list[PredictionRow]]:
    """Return the form of a file and its rows; a `PubmillError` if it is damaged or may be incomplete."""
    recipe, is_archive = normaliser.recipe, path.name.endswith(ARCHIVES)
    text = "" if is_archive else read_text(path)
    form = (
        "order" if recipe.order else form_of(text, str(path), recipe.form or ("brat" if is_archive else None))
    )
    if (end := FORMS[form].end) and not text.endswith(ENDS[end]):
        raise PubmillError(f"{path}: does not end with {end}, so it may be incomplete; if it is not, add it")
    return form, list(FORMS[form].read(PredictionFile(path, text, examples, normaliser)))
