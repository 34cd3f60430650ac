"""The form of files with documents, and of archives of them, guessed from their content."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.convert.annotated_texts import needed_readings
from pubmill.errors import PubmillError
from pubmill.formats.document_files import ARCHIVES, annotated_documents
from pubmill.formats.documents import InputDocument
from pubmill.formats.json_text import parse_json
from pubmill.formats.text_files import read_lines, read_text
from pubmill.storage.archives import members

TEXTS = "pubmill.convert.annotated_texts:mentions"
RELATIONS = "pubmill.convert.annotated_relations:read"
Options = dict[str, Any]


def form_of_documents(path: Path) -> str | None:
    """Return the form of documents that a file, or the files of an archive, have; None if it is none."""
    if path.name.endswith(ARCHIVES):
        return _form_in_archive(path)
    first = next((line for line in read_lines(path) if line.strip()), "")
    return _form_of_line(first, path)


def _form_in_archive(path: Path) -> str | None:
    names = {name.rpartition(".")[2] for name, _ in members(path)}
    if {"ann", "a1"} & names:
        return "brat"
    if "xml" in names:
        return "bioc-xml"
    return "bioc-json" if "json" in names else "pubtator" if {"txt", "pubtator"} & names else None


def _form_of_line(first: str, path: Path) -> str | None:
    name, _, rest = first.partition("|")
    if rest.startswith("t|") and "\t" not in name:
        return "pubtator"
    if first.lstrip().startswith("<"):
        return "bioc-xml" if "<collection" in read_text(path)[:10_000] else None
    if first.startswith("{") and '"sentences"' in first and '"doc_key"' in first:
        return "dygie"
    if first.lstrip().startswith(("{", "[")) and '"passages"' in read_text(path)[:100_000]:
        content = parse_json(read_text(path), str(path))
        found = content[0] if isinstance(content, list) and content else content
        return "bioc-json" if isinstance(found, dict) and "documents" in found else None
    return None


def readings_of_documents(
    files: Mapping[str, Path], form: str, relations: bool
) -> tuple[Options, dict[str, list[InputDocument]]]:
    """Return the options by which all files can be read, with the first of several readings."""
    documents = {split: list(annotated_documents(path, form, "", True)) for split, path in files.items()}
    every = [one for found in documents.values() for one in found]
    if not every:
        raise PubmillError(f"{next(iter(files.values()))}: there are no documents in it")
    options: Options = {"form": form}
    options |= {} if form == "dygie" else {"sentences": "stops"}
    needed: Options = dict(needed_readings(every))
    if relations:
        return options | {k: v for k, v in needed.items() if k != "overlaps"} | _relation_options(
            every
        ), documents
    return options | needed, documents


def _relation_options(documents: list[InputDocument]) -> Options:
    """Return the types and labels of the relations, as the files have them."""
    by_concept = any(relation.concepts for one in documents for relation in one.relations)
    pairs: Counter[tuple[str, str]] = Counter()
    several: set[str] = set()
    for one in documents:
        types: dict[str, str] = {}
        for mention in (mention for part in one.passages for mention in part.mentions):
            for name in [mention.concepts, *mention.concepts.replace(";", "|").replace(",", "|").split("|")]:
                types[name if by_concept else str(mention.id)] = mention.type
        labels: dict[tuple[str, ...], set[str]] = {}
        for relation in one.relations:
            ends = relation.concepts if by_concept else relation.arguments
            kinds = [types[end] for end in ends if end in types]
            if len(kinds) == 2:
                pairs[kinds[0], kinds[1]] += 1
                labels.setdefault(tuple(sorted(ends)), set()).add(relation.type)
        several |= {name for found in labels.values() if len(found) > 1 for name in found}
    if not pairs:
        raise PubmillError("no relation of these files has two mentions or concepts that they mark")
    kept: list[list[str]] = []
    for (first, second), _ in pairs.most_common():
        if [second, first] not in kept:
            kept.append([first, second])
    labels_met = sorted({relation.type for one in documents for relation in one.relations})
    found: Options = {"arguments": "concepts" if by_concept else "mentions", "pairs": kept}
    return found | {"labels": labels_met, "negative": "none"} | ({"several": "each"} if several else {})
