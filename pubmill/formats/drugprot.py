"""DrugProt's tables (BioCreative VII, track 1), as ChemProt's: abstracts, entities and relations.

    PMID <tab> title <tab> abstract
    PMID <tab> T1 <tab> type <tab> start <tab> end <tab> text
    PMID <tab> type <tab> Arg1:T1 <tab> Arg2:T2

Offsets count the characters of the title, one separator, and the abstract.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.formats.documents import FileRelation, InputDocument, TextMention, passages_of
from pubmill.formats.text_files import read_text
from pubmill.messages.quotations import show
from pubmill.storage.strict_parsing import whole_number

ROLES = ("abstracts", "entities", "relations")
"""The tables, in this order."""
_ARGUMENTS = ("Arg1:", "Arg2:")


def documents_of(abstracts: Path, entities: Path, relations: Path) -> Iterator[InputDocument]:
    """Yield the documents of the abstracts in order, with their mentions and relations."""
    mentions, related = defaultdict[str, list[TextMention]](list), defaultdict[str, list[FileRelation]](list)
    for where, (name, mention, kind, *offsets, text) in _rows(entities, 6):
        start, end = map(whole_number, offsets)
        if start is None or end is None or start >= end:
            raise PubmillError(f"{where}: expected two offsets, the first one smaller")
        mentions[name].append(TextMention(start=start, end=end, type=kind, text=text, id=mention))
    for where, (name, kind, *arguments) in _rows(relations, 4):
        if not all(map(str.startswith, arguments, _ARGUMENTS)):
            raise PubmillError(f"{where}: expected the arguments Arg1:ID and Arg2:ID")
        ids = tuple(text.partition(":")[2] for text in arguments)
        related[name].append(FileRelation(type=kind, arguments=ids, source=None))
    for where, (name, *texts) in _rows(abstracts, 3):
        own, whole = mentions.pop(name, []), "\n".join(texts)
        if wrong := [one for one in own if whole[one.start : one.end] != one.text]:
            raise PubmillError(
                f"{where}: the text of {show(str(wrong[0].id))} differs from the text at its offsets; "
                "offsets must count the characters of the title, one separator, and the abstract"
            )
        yield InputDocument(
            id=name, where=where, passages=passages_of(texts, own), relations=related.pop(name, [])
        )
    if lost := [*mentions, *related]:
        raise PubmillError(
            f"{abstracts}: there is no abstract of {show(lost[0])}, which has entities or relations; are the "
            "files those of one split?"
        )


def _rows(path: Path, columns: int) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) != columns:
            raise PubmillError(f"{path}:{number}: expected {columns} columns, found {len(cells)}")
        yield f"{path}:{number}", cells
