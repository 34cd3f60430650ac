"""Annotate a file in any supported format."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.prediction.annotating import Annotator
from pubmill.prediction.bioc import BioCJson, BioCXml
from pubmill.prediction.documents import DocumentFile, JsonLines, TextFile, json_line, read_rows
from pubmill.prediction.example_rows import predict_rows
from pubmill.prediction.pubtator import PubTator
from pubmill.storage.files import writing

FORMATS: dict[str, type[DocumentFile]] = {
    "text": TextFile,
    "jsonl": JsonLines,
    "bioc-json": BioCJson,
    "bioc-xml": BioCXml,
    "pubtator": PubTator,
}
SUFFIXES = {
    ".txt": "text",
    ".jsonl": "jsonl",
    ".json": "bioc-json",
    ".xml": "bioc-xml",
    ".pubtator": "pubtator",
}
ENTITIES = ("bioc-json", "bioc-xml", "pubtator")
"""Formats whose documents can contain mentions."""


def format_of(path: Path) -> str:
    """Return the format that a file's suffix implies."""
    if path.suffix not in SUFFIXES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise PubmillError(f"{path}: the suffix does not imply a format ({known}); give --format")
    return SUFFIXES[path.suffix]


def annotate_file(annotator: Annotator, source: Path, target: Path, form: str) -> None:
    """Write the documents or rows of `source`, with the model's predictions, to `target`."""
    kind = annotator.predictor.recipe.task
    rows = form == "jsonl" and (kind != "tokens" or _has_words(source))
    if not rows and kind != "tokens" and not (kind == "sequence" and annotator.pairs and form in ENTITIES):
        further = (
            "; relations are also predicted between mentions in BioC and PubTator" if annotator.pairs else ""
        )
        raise PubmillError(
            f"{source}: this model ({kind}) reads JSON lines in the form of its dataset's examples "
            f"(--format jsonl){further}"
        )
    try:
        with writing(target) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as output:
            if rows:
                output.writelines(map(json_line, predict_rows(annotator, source)))
            else:
                file = FORMATS[form](source)
                file.write(annotator.annotate(file.documents()), output)
    except UnicodeEncodeError:
        raise PubmillError(
            f"{source}: contains half of a surrogate pair (such as `\\ud83d` alone in JSON), which is not a "
            "character; correct it"
        ) from None


def _has_words(path: Path) -> bool:
    """Return whether the first row has words, which are used without tokenization, instead of text."""
    return any("words" in row for _, row in zip(range(1), (row for _, row in read_rows(path)), strict=False))
