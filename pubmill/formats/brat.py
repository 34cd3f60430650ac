"""brat's standoff form: a text file and, beside it, a file of annotations with character offsets.

    T1 <tab> Type start end[;start end ...] <tab> text     a mention, of one or several pieces
    R1 <tab> Type Arg1:T1 Arg2:T2                          a relation of two mentions
    E1 <tab> Type:T3 Role:T1 Role:E2 ...                   an event with its trigger and arguments
    N1 <tab> Reference T1 MESH:D1 <tab> name               the concept of a mention

A relation of events counts as an event. Attributes (A, M), notes (#) and equivalences (*) are not read.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pubmill.errors import PubmillError
from pubmill.formats.documents import FileRelation, InputDocument, Passage, TextMention
from pubmill.formats.offsets import USUAL, Offsets, Piece, TextPlaces
from pubmill.messages.quotations import quote
from pubmill.storage.strict_parsing import whole_number

ANNOTATIONS = (".ann", ".a1", ".a2")
"""Suffixes of files of annotations: brat's own, and those of the BioNLP shared tasks."""
_MENTION = re.compile(r"(\S+) (\d+ \d+(?:;\d+ \d+)*)")
_RELATION = re.compile(r"(\S+)\s+(\S+):([TER]\S+)\s+(\S+):([TER]\S+)\s*")
_EVENT = re.compile(r"(\S+):(T\S+)((?:\s+\S+:\S+)*)\s*")
_NORMALISATION = re.compile(r"Reference (T\S+) (\S+)")
_UNREAD = "AM#*"


def read_documents(texts: Mapping[str, str], where: str, offsets: Offsets = USUAL) -> Iterator[InputDocument]:
    """Yield the documents of a folder's files, by name; each text needs an annotation file, perhaps empty."""
    stems = [name.removesuffix(".txt") for name in texts if name.endswith(".txt")]
    for name in texts:
        if name.endswith(ANNOTATIONS) and name.rpartition(".")[0] not in stems:
            text = f"{name.rpartition('/')[2].rpartition('.')[0]}.txt"
            raise PubmillError(f"{where}:{name}: there are annotations, but no text {text}")
    for stem in stems:
        name, place = stem.rpartition("/")[2], f"{where}:{stem}.txt"
        annotations = (stem + suffix for suffix in ANNOTATIONS)
        files = {f"{where}:{file}": texts[file] for file in annotations if file in texts}
        if not files:
            raise PubmillError(f"{place}: there is no file {name}.ann with its annotations")
        yield _parse_document(name, texts[f"{stem}.txt"], files, place, offsets)


def _parse_document(
    name: str, text: str, files: Mapping[str, str], where: str, offsets: Offsets
) -> InputDocument:
    mentions: dict[str, TextMention] = {}
    relations, events, concepts = list[FileRelation](), list[str](), dict[str, str]()
    places = TextPlaces([Piece(0, 0, text)], offsets)
    for place, label, content, rest in _rows(files):
        match label[0]:
            case "T":
                if label in mentions:
                    raise PubmillError(f"{place}: a second {label}")
                if mention := _mention(label, content, rest, text, places, place):
                    mentions[label] = mention
            case "R":
                parts = _parsed(_RELATION, content, place, "Type Arg1:T1 Arg2:T2")
                ends = (parts[3], parts[5])
                if all(one.startswith("T") for one in ends):
                    relations.append(FileRelation(type=parts[1], arguments=ends, source=content, id=label))
                else:
                    events.append(f"{parts[1]} (a relation of events)")
            case "E":
                events.append(_parsed(_EVENT, content, place, "Type:T1 Role:T2 ...")[1])
            case "N":
                parts = _parsed(_NORMALISATION, content, place, "Reference T1 RID")
                concepts[parts[1]] = ",".join(filter(None, [concepts.get(parts[1], ""), parts[2]]))
    with_concepts = [replace(one, concepts=concepts.get(label, "")) for label, one in mentions.items()]
    return InputDocument(
        id=name, where=where, passages=[Passage(text=text, offset=0, mentions=with_concepts)],
        relations=relations, events=tuple(events), misplaced=tuple(places.misplaced),
    )  # fmt: skip


def _rows(files: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield place, label, content and text of each annotation."""
    for file, content in files.items():
        for number, line in enumerate(content.split("\n"), 1):
            label, _, rest = line.rstrip("\r").partition("\t")
            if line.strip() and label[:1] not in _UNREAD:
                if label[:1] not in "TREN" or not rest:
                    raise PubmillError(f"{file}:{number}: expected `T1<tab>...`, found {quote(line)}")
                what, _, text = rest.partition("\t")
                yield f"{file}:{number}", label, what, text


def _parsed(form: re.Pattern[str], content: str, place: str, expected: str) -> re.Match[str]:
    match = form.fullmatch(content)
    if match is None:
        raise PubmillError(f"{place}: expected `{expected}`, found {quote(content)}")
    return match


def _mention(
    label: str, content: str, rest: str, text: str, places: TextPlaces, place: str
) -> TextMention | None:
    parts = _parsed(_MENTION, content, place, "Type start end[;start end]")
    stated, spans = list[tuple[int, int]](), list[tuple[int, int]]()
    for piece in parts[2].split(";"):
        start, end = map(whole_number, piece.split())
        if start is None or end is None or not start < end:
            raise PubmillError(f"{place}: expected offsets, each end after its start, found {quote(content)}")
        stated.append((start, end))
        spans += [span] if (span := places.span(start, end)) else []
    inside = " ".join(text[start:end] for start, end in spans)
    if len(spans) < len(stated) or " ".join(inside.split()) != " ".join(rest.split()):
        fault = (
            f"the text of {label} differs from that at its offsets, which must count characters of the .txt "
            "file, not bytes"
        )
        places.leave_out(place, rest.rstrip(), text, stated[0][0], stated[-1][1], fault)
        return None
    first, last = min(spans)[0], max(end for _, end in spans)
    return TextMention(
        start=first, end=last, type=parts[1], text=text[first:last], id=label, source=content,
        spans=tuple(sorted(spans)) if len(spans) > 1 else (),
    )  # fmt: skip
