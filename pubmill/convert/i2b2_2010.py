"""Converters of the i2b2/VA 2010 corpus (concepts and relations) to tokens and sequence examples.

Notes are `.txt` files with one sentence per line and spaces between tokens. A `.con` file has one concept per
line, `c="..." LINE:TOKEN LINE:TOKEN||t="problem"`; a `.rel` file one relation per line, `c="..." L:T
L:T||r="TrAP"||c="..." L:T L:T`. Lines count from 1 and tokens from 0; in a line that begins with a space,
token 0 is the empty one before it (as read by BLUE and ClinicalBERT). The quoted text is the note's text in
lower case, and each is compared with the note.

Sources: `train` (concept_assertion_relation_training_data.tar.gz, with the folders `beth` and
`partners`), `test` (reference_standard_for_test_data.tar.gz) and `test_texts` (test_data.tar.gz).
dev is a part of train, by documents, in each of the two hospitals (`ConverterInput.held_out`).
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, combinations
from pathlib import Path, PurePosixPath

from pubmill.convert import words
from pubmill.convert.source_files import ConverterInput, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample, TokensExample
from pubmill.messages.quotations import quote
from pubmill.storage.archives import decode, members

HOSPITALS = ("beth", "partners")
TYPES = ("problem", "test", "treatment")
RELATIONS = ("PIP", "TeCP", "TeRP", "TrAP", "TrCP", "TrIP", "TrNAP", "TrWP")
NEGATIVE = "false"
"""BLUE's label of a pair without a relation."""

_PLACE = r'c="(.*)" (\d{1,9}):(\d{1,9}) (\d{1,9}):(\d{1,9})'
_CONCEPT = re.compile(_PLACE + r'\|\|t="([^"]*)"')
_RELATION = re.compile(_PLACE + r'\|\|r="([^"]*)"\|\|' + _PLACE)
_TOKEN = re.compile(r"\S+")
_LINE_END = re.compile(r"\r\n|\r|\n")

Files = dict[str, dict[str, tuple[str, str]]]
"""Document -> kind of file (txt, con, rel) -> (its location, its text)."""
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept: lines count from 1; `start` and `end` (exclusive) are characters of the note."""

    first_line: int
    last_line: int
    start: int
    end: int
    type: str


def concepts(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield one example per line, `DOCUMENT.LINE`, with the types problem, test and treatment.

    The option `dev`, `{share, seed}`, is the share of the training notes held out as dev.
    """
    source.check_options("dev")
    for document, note, marked in _documents(source, "con"):
        mentions = [words.NoteMention(concept.start, concept.end, concept.type) for concept in marked]
        for sentence in words.sentences(note.text, mentions, source.left_out):
            yield sentence.example(document)


def relations(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield one example per pair of concepts in a line, of any types, in the order of the `.con` file.

    BLUE makes its candidates this way, and lewis2020 uses its files. The label is the relation between the
    two concepts in either direction, else `false`; a pair with several relations has one example for each, as
    in BLUE. Ids are `DOCUMENT.CONCEPT.CONCEPT` (numbers in the file), with `.2`, `.3`, ... for further
    relations. `left_out` counts `concepts_across_lines` and `relations_without_pair` (in no common line). The
    option `dev` is that of `concepts`.
    """
    source.check_options("dev")
    for document, note, marked in _documents(source, "rel"):
        labels = _labels(note, marked)
        if across := sum(concept.first_line != concept.last_line for concept in marked):
            source.left_out["concepts_across_lines"] += across
        for (i, one), (j, other) in combinations(enumerate(marked, 1), 2):
            if one.first_line == one.last_line == other.first_line == other.last_line:
                start, end = note.line(one.first_line)
                for number, label in enumerate(labels.pop((i, j), [NEGATIVE]), 1):
                    yield SequenceExample(
                        id=f"{document}.{i}.{j}" + (f".{number}" if number > 1 else ""),
                        document=document,
                        text=one_line(note.text[start:end]),
                        label=label,
                        entities=[
                            Entity(start=concept.start - start, end=concept.end - start, type=concept.type)
                            for concept in (one, other)
                        ],
                    )
        if rest := sum(map(len, labels.values())):
            source.left_out["relations_without_pair"] += rest


def _documents(source: ConverterInput, needed: str) -> Iterator[tuple[str, "_Note", list[Concept]]]:
    """Yield the split's documents by name, with their concepts; all must have a file of the kind `needed`."""
    files = _test_files(source) if source.split == "test" else _train_files(source)
    for document, kinds in sorted(files.items()):
        lacking = [kind for kind in dict.fromkeys(("txt", "con", needed)) if kind not in kinds]
        if lacking:
            where = next(iter(kinds.values()))[0]
            raise PubmillError(
                f"{where} has no {document}.{lacking[0]} beside it; expected a text, a concept and a "
                f"relation file for every note. {_PACK}"
            )
        note = _Note(document, kinds)
        yield document, note, _concepts(note)


_PACK = (
    "Use the archives as downloaded from the portal; repack unpacked copies with `tar czf NAME.tar.gz FOLDER`"
)


def _train_files(source: ConverterInput) -> Files:
    chosen: Files = {}
    for hospital in HOSPITALS:
        notes = _note_files(source.input("train"), ("txt", "con", "rel"), hospital)
        of_split = source.held_out(notes)
        chosen |= {document: kinds for document, kinds in notes.items() if document in of_split}
    return chosen


def _test_files(source: ConverterInput) -> Files:
    notes = _note_files(source.input("test"), ("con", "rel"), None)
    for document, kinds in _note_files(source.input("test_texts"), ("txt",), None).items():
        notes[document] |= kinds
    return notes


def _note_files(archive: Path, kinds: tuple[str, ...], folder: str | None) -> Files:
    """Return the files of these kinds; with `folder`, only those below a folder of this name."""
    notes: Files = defaultdict(dict)
    for member, content in members(archive):
        path, where = PurePosixPath(member), f"{archive}:{member}"
        kind = path.suffix.removeprefix(".")
        if kind not in kinds or path.name.startswith(".") or (folder and folder not in path.parts[:-1]):
            continue
        notes[path.stem][kind] = (where, decode(content, where))
    if not notes:
        below = f" below a folder {folder}" if folder else ""
        raise PubmillError(f"{archive} has no .{' or .'.join(kinds)} files{below}. {_PACK}")
    return notes


class _Note:
    """A note's text with line feeds between its lines, and the positions of its tokens."""

    def __init__(self, document: str, kinds: dict[str, tuple[str, str]]) -> None:
        self.document, self.kinds = document, kinds
        lines = _LINE_END.split(kinds["txt"][1])
        self.text = "\n".join(lines)
        starts = accumulate((len(line) + 1 for line in lines), initial=0)
        self._lines = [(start, start + len(line)) for start, line in zip(starts, lines, strict=False)]

    def line(self, number: int) -> Span:
        return self._lines[number - 1]

    def place(self, numbers: tuple[str, ...], text: str, where: str) -> tuple[int, int, int, int]:
        """Return (first line, last line, start, end) of `L:T L:T`; raise an error if its text differs."""
        first_line, first, last_line, last = map(int, numbers)
        starts, ends = self._tokens(first_line, where), self._tokens(last_line, where)
        if first >= len(starts) or last >= len(ends) or starts[first][0] >= ends[last][1]:
            raise PubmillError(
                f"{where}: no tokens {first_line}:{first} to {last_line}:{last} in {self.kinds['txt'][0]}; "
                f"its lines {first_line} and {last_line} have {len(starts)} and {len(ends)} tokens"
            )
        start, end = starts[first][0], ends[last][1]
        inside = self.text[start:end]
        # No concept begins at the empty token before a line's first space: `inside` would begin with a space.
        if inside.lower().split() != text.lower().split() or inside != inside.strip():
            raise PubmillError(
                f"{where}: has {quote(text)}, but {self.kinds['txt'][0]} has {quote(inside)} at "
                f"{first_line}:{first} to {last_line}:{last}; the two files are not from one release"
            )
        return first_line, last_line, start, end

    def _tokens(self, line: int, where: str) -> list[Span]:
        if not 1 <= line <= len(self._lines):
            raise PubmillError(
                f"{where}: names line {line}, but {self.kinds['txt'][0]} has {len(self._lines)} lines"
            )
        start, end = self._lines[line - 1]
        spans = [word.span() for word in _TOKEN.finditer(self.text, start, end)]
        blank_first = bool(spans) and spans[0][0] > start
        return [(start, start), *spans] if blank_first else spans


def _parse_lines(
    note: _Note, kind: str, form: re.Pattern[str], shown: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (location, parts) of each line of a `.con` or `.rel` file; blank lines are skipped."""
    path, text = note.kinds[kind]
    for number, line in enumerate(_LINE_END.split(text), 1):
        if line.strip():
            parts = form.fullmatch(line.strip())
            if not parts:
                raise PubmillError(f"{path}:{number}: expected `{shown}`, found {quote(line)}")
            yield f"{path}:{number}", parts.groups()


def _concepts(note: _Note) -> list[Concept]:
    marked = []
    for where, (text, *numbers, of) in _parse_lines(note, "con", _CONCEPT, 'c="..." L:T L:T||t="TYPE"'):
        if of not in TYPES:
            raise PubmillError(f"{where}: expected a type of {', '.join(TYPES)}, found {quote(of)}")
        marked.append(Concept(*note.place(tuple(numbers), text, where), of))
    return marked


def _labels(note: _Note, marked: list[Concept]) -> dict[tuple[int, int], list[str]]:
    """Return the numbers of two concepts, the smaller first -> their relations in `.rel` order."""
    numbers: dict[Span, int] = {}
    for number, concept in enumerate(marked, 1):
        numbers.setdefault((concept.start, concept.end), number)
    labels: dict[tuple[int, int], list[str]] = defaultdict(list)
    shown = 'c="..." L:T L:T||r="TYPE"||c="..." L:T L:T'
    for where, parts in _parse_lines(note, "rel", _RELATION, shown):
        if parts[5] not in RELATIONS:
            raise PubmillError(
                f"{where}: expected a relation of {', '.join(RELATIONS)}, found {quote(parts[5])}"
            )
        pair = []
        for text, *places in (parts[:5], parts[6:]):
            _, _, start, end = note.place(tuple(places), text, where)
            if (start, end) not in numbers:
                raise PubmillError(
                    f"{where}: no concept of {note.kinds['con'][0]} is at {places[0]}:{places[1]}"
                )
            pair.append(numbers[start, end])
        labels[min(pair), max(pair)].append(parts[5])
    return labels
