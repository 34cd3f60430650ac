"""Forms of files with documents, and the suffixes that imply them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats import bioc_collections, brat, doccano, dygie, pubtator
from pubmill.formats.bioc_collections import BioCJson, BioCXml
from pubmill.formats.documents import DocumentFile, InputDocument
from pubmill.formats.json_text import parse_json
from pubmill.formats.plain_documents import JsonLines, TextFile
from pubmill.formats.pubtator import PubTator
from pubmill.formats.text_files import GZIP, read_text
from pubmill.storage.archives import decode, members

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
    """Return the format that a file's suffix implies, before `.gz` if there is one."""
    suffix = suffix_of(path)
    if suffix not in SUFFIXES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise PubmillError(f"{path}: the suffix does not imply a format ({known}); give --format")
    return SUFFIXES[suffix]


def suffix_of(path: Path) -> str:
    """Return the suffix of a file, before `.gz` if there is one."""
    return (path.with_suffix("") if path.suffix == GZIP else path).suffix


ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
Texts = Mapping[str, str]
"""Name -> text of the files of an archive, or of one file."""


def _pubtator(texts: Texts, where: str, misplaced: bool) -> Iterator[InputDocument]:
    for name, text in texts.items():
        yield from pubtator.documents_of(text.split("\n"), _place(where, name), misplaced)


def _bioc_json(texts: Texts, where: str, misplaced: bool) -> Iterator[InputDocument]:
    for name, text in texts.items():
        place = _place(where, name)
        yield from bioc_collections.documents_of(parse_json(text, place), place, misplaced)


def _bioc_xml(texts: Texts, where: str, misplaced: bool) -> Iterator[InputDocument]:
    for name, text in texts.items():
        place = _place(where, name)
        yield from bioc_collections.documents_of(bioc_collections.read_xml(text, place), place, misplaced)


ANNOTATED: dict[str, Callable[[Texts, str, bool], Iterator[InputDocument]]] = {
    "pubtator": _pubtator,
    "bioc-json": _bioc_json,
    "bioc-xml": _bioc_xml,
    "brat": brat.read_documents,
    "dygie": dygie.read_documents,
    "doccano": doccano.read_documents,
}
"""Form of documents with mentions -> its reader."""


def annotated_documents(
    path: Path, form: str, folder: str = "", misplaced: bool = False
) -> Iterator[InputDocument]:
    """Yield the documents of a file, or of all files of an archive, by name, below `folder`.

    `misplaced`: mentions that differ from the text at their offsets are counted and left out; they are errors
    otherwise.
    """
    if not path.name.endswith(ARCHIVES):
        if form == "brat":
            raise PubmillError(f"{path}: brat's form needs an archive (zip, tar) of .txt and .ann files")
        return ANNOTATED[form]({"": read_text(path)}, str(path), misplaced)
    return ANNOTATED[form](archived_texts(path, folder), str(path), misplaced)


def archived_texts(path: Path, folder: str = "") -> dict[str, str]:
    """Return the names and texts of an archive's files below `folder`, by name, hidden ones left out."""
    texts = {
        name: decode(content, f"{path}:{name}").removeprefix("\ufeff")
        for name, content in sorted(members(path))
        if f"/{name}".startswith(f"/{folder}") and not _is_hidden(name)
    }
    if not texts:
        raise PubmillError(f"{path}: there are no files below {folder or 'its top'}")
    return texts


def _is_hidden(name: str) -> bool:
    """Return whether a member is no data: brat's settings, those of file systems, or a description."""
    last = name.rpartition("/")[2]
    return last.startswith((".", "_")) or "__MACOSX" in name or last.endswith((".conf", ".md", ".pdf"))


def _place(where: str, name: str) -> str:
    return f"{where}:{name}" if name else where
