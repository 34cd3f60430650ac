"""Forms of files with documents, and the suffixes that imply them."""

from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats.bioc_collections import BioCJson, BioCXml
from pubmill.formats.documents import DocumentFile
from pubmill.formats.plain_documents import JsonLines, TextFile
from pubmill.formats.pubtator import PubTator
from pubmill.formats.text_files import GZIP

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
