"""Tables of DrugProt (BioCreative VII, track 1) and ChemProt: abstracts, entities and relations.

    PMID <tab> title <tab> abstract
    PMID <tab> T1 <tab> type <tab> start <tab> end <tab> text
    PMID <tab> type <tab> Arg1:T1 <tab> Arg2:T2                                        DrugProt
    PMID <tab> group <tab> Y if evaluated, else N <tab> name <tab> Arg1:T1 <tab> Arg2:T2       ChemProt

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
    """Yield the documents of the abstracts in order, with their mentions (`source`: in the order of the file)
    and relations (`source`: the columns before the arguments)."""
    mentions = defaultdict[str, dict[str, TextMention]](dict)
    related = defaultdict[str, list[FileRelation]](list)
    for where, (name, mention, kind, *offsets, text) in rows(entities, 6):
        start, end = map(whole_number, offsets)
        if start is None or end is None or start >= end or mention in mentions[name]:
            raise PubmillError(f"{where}: expected two offsets, the first one smaller, and an id of its own")
        mentions[name][mention] = TextMention(start=start, end=end, type=kind, text=text, id=mention)
    for where, (name, kind, *stated, first, second) in rows(relations, 4, 6):
        arguments = [first, second]
        if not all(map(str.startswith, arguments, _ARGUMENTS)):
            raise PubmillError(f"{where}: expected the arguments Arg1:ID and Arg2:ID")
        ids = tuple(text.partition(":")[2] for text in arguments)
        related[name].append(FileRelation(type=kind, arguments=ids, source=stated))
    seen: set[str] = set()
    for where, (name, *texts) in rows(abstracts, 3):
        if name in seen:
            raise PubmillError(f"{where}: a second abstract of {show(name)}")
        seen.add(name)
        own, whole = list(mentions.pop(name, {}).values()), "\n".join(texts)
        if wrong := [one for one in own if whole[one.start : one.end] != one.text]:
            raise PubmillError(
                f"{where}: the text of {show(str(wrong[0].id))} differs from the text at its offsets; "
                "offsets must count the characters of the title, one separator, and the abstract"
            )
        yield InputDocument(
            id=name,
            where=where,
            passages=passages_of(texts, own),
            relations=related.pop(name, []),
            source=own,
        )
    if lost := [*mentions, *related]:
        raise PubmillError(
            f"{abstracts}: there is no abstract of {show(lost[0])}, which has entities or relations; are the "
            "files those of one split?"
        )


def rows(path: Path, *columns: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the cells of each line, which has one of these numbers of columns."""
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) not in columns:
            raise PubmillError(
                f"{path}:{number}: expected {' or '.join(map(str, columns))} columns, found {len(cells)}"
            )
        yield f"{path}:{number}", cells
