"""Converter of ChemProt (BioCreative VI, task 5) to one example per pair of a chemical and a gene.

The original has four files per split, tab-separated, without header:

- `abstracts`: PMID, title, abstract. Offsets count characters of `title TAB abstract`.
- `entities`: PMID, id, type (CHEMICAL, GENE-Y, GENE-N), start, end (exclusive), text.
- `relations`: PMID, group (CPR:0 to CPR:10), Y if evaluated, else N, name, `Arg1:CHEMICAL`, `Arg2:GENE`.
- `gold_standard`: only the evaluated relations: PMID, group, `Arg1:CHEMICAL`, `Arg2:GENE`.

As in BLURB's generator (gu2020, section 4.3), every chemical is paired with every gene of the same
sentence, and a pair without an evaluated relation is `false`. The mentions are spans of the sentence.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from pubmill.convert.source_files import ConverterInput, lines, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.examples.sentences import SentenceSplitter
from pubmill.messages.quotations import quote
from pubmill.storage.strict_parsing import whole_number

CHEMICAL, GENES = "CHEMICAL", ("GENE-Y", "GENE-N")
GROUPS = frozenset(f"CPR:{number}" for number in range(11))
EVALUATED = frozenset({"CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9"})
NEGATIVE = "false"

Span = tuple[int, int]
Pair = tuple[str, str]
"""The ids of a chemical and a gene of one document."""


@dataclass
class _Document:
    """A document; `labels` are the evaluated groups of each pair, one per line of the relations, in order."""

    text: str
    entities: dict[str, Entity] = field(default_factory=dict)
    labels: dict[Pair, list[str]] = field(default_factory=dict)


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split; ids are `PMID.FIRST.SECOND`, with the mentions in text order.

    Options: `sentences`, one of `SENTENCES`, and `labels`, one of `LABELS`. These are left out and counted:
    relations of groups that are not evaluated, evaluated pairs without a common sentence, groups that
    `labels` drops, and mentions that cross sentences. A `PubmillError` names the file and line of deviations
    from the form above, of offsets where the text is not the entity's, and of unknown ids.
    """
    source.check_options("sentences", "labels")
    sentences = source.option("sentences", SENTENCES)
    choose = source.option("labels", LABELS)
    splitter = SentenceSplitter(source.input("punkt"))
    documents = _abstracts(source.of_split("abstracts"))
    _add_entities(documents, source.of_split("entities"))
    source.left_out["relations_not_evaluated"] += _add_relations(documents, source.of_split("relations"))
    _check_same_relations(documents, source.of_split("gold_standard"), source.of_split("relations"))
    for pmid, document in documents.items():
        placed: set[str | None] = set()
        missed = set(document.labels)
        for start, end in sentences(splitter, document.text):
            mentions = [e for e in document.entities.values() if start <= e.start and e.end <= end]
            placed.update(mention.id for mention in mentions)
            text = one_line(document.text[start:end])
            # every chemical with every gene, in the order of the entities' file; some overlap
            chemicals, genes = ([e for e in mentions if e.type in of] for of in ((CHEMICAL,), GENES))
            for chemical, gene in product(chemicals, genes):
                pair = (str(chemical.id), str(gene.id))
                missed.discard(pair)
                stated = document.labels.get(pair, ())
                labels = choose(stated)
                source.left_out["further_labels"] += len(set(stated)) - len(labels)
                arguments = [replace(e, start=e.start - start, end=e.end - start) for e in (chemical, gene)]
                yield from _examples(pmid, text, arguments, labels or [NEGATIVE])
        source.left_out["evaluated_pairs_across_sentences"] += len(missed)
        source.left_out["mentions_across_sentences"] += len(document.entities) - len(placed)


def _examples(
    pmid: str, text: str, arguments: Sequence[Entity], labels: Sequence[str]
) -> Iterator[SequenceExample]:
    """Yield one example per label. BLURB's identifier names the mentions in text order (the gene first if
    both begin at the same character); further rows of a pair get the suffix `.2` and so on."""
    chemical, gene = arguments
    first, second = (chemical, gene) if chemical.start < gene.start else (gene, chemical)
    for number, label in enumerate(labels, 1):
        yield SequenceExample(
            id=f"{pmid}.{first.id}.{second.id}" + (f".{number}" if number > 1 else ""),
            document=pmid,
            text=text,
            label=label,
            entities=list(arguments),
        )


def _punkt_sentences(splitter: SentenceSplitter, text: str) -> list[Span]:
    """Return Punkt's sentences, split also at the tab after the title."""
    return _locate_pieces(text, [part for sentence in splitter.split(text) for part in sentence.split("\t")])


def _blue_sentences(splitter: SentenceSplitter, text: str) -> list[Span]:
    """Return BLUE's sentences (blue/bert/create_chemprot_bert.py), but split by Punkt where BLUE uses spaCy.

    Title and abstract are one text, and a split is valid only after `.`, `?` or `!` (not after `i.v.`) and
    before an upper-case letter.
    """
    joined: list[Span] = []
    for start, end in _locate_pieces(text, splitter.split(one_line(text))):
        before = text[joined[-1][0] : joined[-1][1]] if joined else ""
        cut = before.endswith((".", "?", "!")) and not before.endswith("i.v.") and text[start].isupper()
        if joined and not cut:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _locate_pieces(text: str, pieces: Sequence[str]) -> list[Span]:
    spans: list[Span] = []
    end = 0
    plain = one_line(text)
    for piece in pieces:
        start = plain.index(one_line(piece), end)
        end = start + len(piece)
        spans.append((start, end))
    return spans


SENTENCES: dict[str, Callable[[SentenceSplitter, str], list[Span]]] = {
    "punkt": _punkt_sentences,
    "punkt_merged": _blue_sentences,
}
"""Values of the option `sentences`: BLURB's sentences, or the closest possible ones to BLUE's."""


LABELS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "last": lambda labels: list(labels[-1:]),
    "each": lambda labels: list(dict.fromkeys(labels)),
}
"""Values of the option `labels` for pairs with several groups: use the last line of the relations (BLURB), or
make a row for each group (BLUE)."""


def _rows(path: Path, columns: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (location, cells) of each line; `columns` names them. A repeated line is an error."""
    seen: set[str] = set()
    for number, line in lines(path):
        where, row = f"{path}:{number}", line.split("\t")
        if len(row) != len(columns.split()) or not all(cell.strip() for cell in row):
            raise PubmillError(
                f"{where}: expected the tab-separated columns {columns}, none of them empty; "
                f"found {len(row)}: {quote(line)}"
            )
        if line in seen:
            raise PubmillError(f"{where}: this line occurs twice; is this the original file?")
        seen.add(line)
        yield where, row


def _abstracts(path: Path) -> dict[str, _Document]:
    documents: dict[str, _Document] = {}
    for where, (pmid, title, abstract) in _rows(path, "pmid title abstract"):
        if not re.fullmatch(r"\d+", pmid):
            raise PubmillError(f"{where}: expected a PMID, digits only, found {quote(pmid)}")
        if pmid in documents:
            raise PubmillError(f"{where}: PMID {pmid} occurs for the second time")
        documents[pmid] = _Document(f"{title}\t{abstract}")
    return documents


def _find_document(documents: dict[str, _Document], pmid: str, where: str) -> _Document:
    if pmid not in documents:
        raise PubmillError(f"{where}: there is no abstract of PMID {pmid}; do the files belong to one split?")
    return documents[pmid]


def _add_entities(documents: dict[str, _Document], path: Path) -> None:
    for where, (pmid, name, kind, start, end, text) in _rows(path, "pmid id type start end text"):
        document = _find_document(documents, pmid, where)
        if kind not in (CHEMICAL, *GENES):
            raise PubmillError(
                f"{where}: expected the type {CHEMICAL}, {' or '.join(GENES)}, found {quote(kind)}"
            )
        first, last = whole_number(start), whole_number(end)
        if first is None or last is None or not first < last <= len(document.text):
            raise PubmillError(
                f"{where}: {name} of PMID {pmid} is from {quote(start)} to {quote(end)}; expected two "
                f"offsets, in this order, within its {len(document.text)} characters"
            )
        inside = document.text[first:last]
        if inside != text:
            raise PubmillError(
                f"{where}: {name} of PMID {pmid} is {quote(text)}, but at its offsets is {quote(inside)}; "
                "are abstracts and entities from one release?"
            )
        if name in document.entities:
            raise PubmillError(f"{where}: PMID {pmid} has a second entity {name}")
        document.entities[name] = Entity(start=first, end=last, type=kind, id=name)


def _add_relations(documents: dict[str, _Document], path: Path) -> int:
    """Add the labels to the documents; return how many relations are not evaluated."""
    others = 0
    rows = _rows(path, "pmid group evaluated name arg1 arg2")
    for where, (pmid, group, evaluated, _, chemical, gene) in rows:
        document = _find_document(documents, pmid, where)
        pair = _parse_pair(document, pmid, chemical, gene, where)
        if group not in GROUPS or evaluated.strip() != ("Y" if group in EVALUATED else "N"):
            raise PubmillError(
                f"{where}: expected a group CPR:0 to CPR:10 with `Y` where it is one of "
                f"{', '.join(sorted(EVALUATED))}, else `N`; found {quote(group)} with {quote(evaluated)}"
            )
        if group in EVALUATED:
            document.labels.setdefault(pair, []).append(group)
        else:
            others += 1
    return others


def _parse_pair(document: _Document, pmid: str, chemical: str, gene: str, where: str) -> Pair:
    ids = []
    for cell, argument, kinds in ((chemical, "Arg1", (CHEMICAL,)), (gene, "Arg2", GENES)):
        prefix, _, name = cell.partition(":")
        entity = document.entities.get(name)
        if prefix != argument or entity is None or entity.type not in kinds:
            raise PubmillError(
                f"{where}: expected `{argument}:ID` of an entity of type {' or '.join(kinds)} of PMID "
                f"{pmid}, found {quote(cell)}"
            )
        ids.append(name)
    return ids[0], ids[1]


def _check_same_relations(documents: dict[str, _Document], gold_standard: Path, relations: Path) -> None:
    """Check that the two files contain the same evaluated relations."""
    stated = {
        (pmid, group, *pair)
        for pmid, document in documents.items()
        for pair, groups in document.labels.items()
        for group in groups
    }
    gold = set()
    for where, (pmid, group, chemical, gene) in _rows(gold_standard, "pmid group arg1 arg2"):
        document = _find_document(documents, pmid, where)
        relation = (pmid, group, *_parse_pair(document, pmid, chemical, gene, where))
        if relation not in stated:
            raise PubmillError(f"{where}: {' '.join(relation)} is not an evaluated relation of {relations}")
        gold.add(relation)
    if stated - gold:
        raise PubmillError(
            f"{gold_standard}: {' '.join(min(stated - gold))} is missing, which {relations} has; are the "
            "files from one release?"
        )
