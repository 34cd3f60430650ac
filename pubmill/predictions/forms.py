"""The forms of predictions, recognised from their content."""

import json
import re
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats import text_files
from pubmill.messages.wording import unknown
from pubmill.predictions.conll_form import is_conll
from pubmill.predictions.json_forms import is_batch
from pubmill.predictions.tsv_form import is_csv, is_tsv

FORMS = {
    "blurb-tsv": "tab-separated columns: an id, possibly the input, the prediction",
    "csv": "comma-separated columns with headings: an id, possibly the input, the prediction",
    "json": "a JSON object by id, or a list of objects",
    "jsonl": "a JSON object on each line",
    "batch": "a JSON line for each request of a batch of a hosted language model, with custom_id or key",
    "conll": "a word and its label on each line, in IOB1, IOB2, IOE, IOBES, BILOU or IO",
    "bioc-json": "a BioC collection as JSON",
    "bioc-xml": "a BioC collection as XML",
    "pubtator": "PubTator: PMID|t|TITLE, PMID|a|ABSTRACT, then mentions",
}
"""Form -> its description."""
_PUBTATOR = re.compile(r"[^|\t]+\|[ta]\|")


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
    form = stated or _recognise(text)
    if form is None:
        known = "; ".join(f"{name}: {what}" for name, what in FORMS.items())
        raise PubmillError(
            f"{where}: the file has none of the known forms, or is damaged. Name its form with --form, for "
            f"example --form conll, to see where it is damaged. Known forms: {known}"
        )
    return form


def check_end(text: str, form: str, where: str) -> None:
    """Check the end of a table or PubTator file, which alone shows whether the last entry is complete."""
    line, paragraph = ("\n", "a line end"), ("\n\n", "a blank line")
    end, what = {"blurb-tsv": line, "csv": line, "pubtator": paragraph}.get(form, ("", ""))
    if not text.endswith(end):
        raise PubmillError(
            f"{where}: does not end with {what}, so it may be incomplete; if it is not, add it"
        )


def _recognise(text: str) -> str | None:
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith("<"):
        return "bioc-xml"
    if first.lstrip().startswith(("{", "[")):
        return _json_form(text, first)
    if _PUBTATOR.match(first):
        return "pubtator"
    if is_csv(first):
        return "csv"
    if is_conll(lines):
        return "conll"
    return "blurb-tsv" if is_tsv(lines) else None


def _json_form(text: str, first: str) -> str:
    """Return the form of JSON: lines if the first one is a whole object with an id or with further lines."""
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        line = None
    if is_batch(line):
        return "batch"
    several = text.strip() != first.strip()
    if isinstance(line, dict) and "documents" not in line and (several or {"id", "example_id"} & line.keys()):
        return "jsonl"
    return "bioc-json" if re.search(r'"documents"\s*:\s*\[', text[:100_000]) else "json"
