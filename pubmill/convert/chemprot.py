"""Converter of ChemProt (BioCreative VI, task 5) to one example per pair of a chemical and a gene.

The original has four tables per split: `abstracts`, `entities` and `relations` (`pubmill.formats.drugprot`),
and `gold_standard`, only the evaluated relations: PMID, group, `Arg1:CHEMICAL`, `Arg2:GENE`. Types are
CHEMICAL, GENE-Y and GENE-N, groups CPR:0 to CPR:10.

As in BLURB's generator (gu2020, section 4.3), every chemical is paired with every gene of the same
sentence, and a pair without an evaluated relation is `false`. The mentions are spans of the sentence.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

from pubmill.convert.source_files import ConverterInput, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.examples.sentences import SentenceSplitter
from pubmill.formats import drugprot
from pubmill.formats.documents import InputDocument
from pubmill.messages.quotations import quote
from pubmill.recipes.recipe_types import StrictRecipe

CHEMICAL, GENES = "CHEMICAL", ("GENE-Y", "GENE-N")
EVALUATED = frozenset({"CPR:3", "CPR:4", "CPR:5", "CPR:6", "CPR:9"})
NEGATIVE = "false"

Span = tuple[int, int]


class ChemprotReading(StrictRecipe):
    """The options. `sentences`: BLURB's, or the closest possible ones to BLUE's. `labels`, of pairs with
    several groups: that of the last line of the relations (BLURB), or a row for each group (BLUE)."""

    sentences: Literal["punkt", "punkt_merged"]
    labels: Literal["last", "each"]


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of one split; ids are `PMID.FIRST.SECOND`, with the mentions in text order.

    Options: `ChemprotReading`. These are left out and counted: relations of groups that are not evaluated,
    evaluated pairs without a common sentence, groups that `labels` drops, and mentions that cross sentences.
    A `PubmillError` names the file and the line or PMID of deviations from the form above, of offsets where
    the text is not the entity's, and of unknown ids.
    """
    options = source.options_as(ChemprotReading)
    find_sentences = _punkt_sentences if options.sentences == "punkt" else _blue_sentences
    splitter = SentenceSplitter(source.input("punkt"))
    abstracts, entities, relations = map(source.of_split, drugprot.ROLES)
    stated: set[str] = set()
    for document in drugprot.documents_of(abstracts, entities, relations):
        labels = _evaluated_labels(document, relations)
        stated |= {
            f"{document.id} {group} Arg1:{chemical} Arg2:{gene}"
            for (chemical, gene), groups in labels.items()
            for group in groups
        }
        source.left_out["relations_not_evaluated"] += len(document.relations) - sum(map(len, labels.values()))
        text = "\t".join(passage.text for passage in document.passages)
        placed: set[str | None] = set()
        missed = set(labels)
        for start, end in find_sentences(splitter, text):
            mentions = [
                Entity(start=one.start - start, end=one.end - start, type=one.type, id=one.id)
                for one in document.source
                if start <= one.start and one.end <= end
            ]
            placed.update(mention.id for mention in mentions)
            # every chemical with every gene, in the order of the entities' file; some overlap
            chemicals, genes = ([e for e in mentions if e.type in of] for of in ((CHEMICAL,), GENES))
            for chemical, gene in product(chemicals, genes):
                pair = (str(chemical.id), str(gene.id))
                missed.discard(pair)
                different = list(dict.fromkeys(labels.get(pair, ())))
                chosen = labels[pair][-1:] if different and options.labels == "last" else different
                source.left_out["further_labels"] += len(different) - len(chosen)
                sentence = one_line(text[start:end])
                yield from _examples(document.id, sentence, [chemical, gene], chosen or [NEGATIVE])
        source.left_out["evaluated_pairs_across_sentences"] += len(missed)
        source.left_out["mentions_across_sentences"] += len(document.source) - len(placed)
    gold = {" ".join(cells) for _, cells in drugprot.rows(source.of_split("gold_standard"), 4)}
    if differing := stated ^ gold:
        raise PubmillError(
            f"{source.of_split('gold_standard')}: {min(differing)} is only in this file, or only among the "
            f"evaluated relations of {relations}; are the files from one release?"
        )


def _evaluated_labels(document: InputDocument, relations: Path) -> Mapping[tuple[str, ...], list[str]]:
    """Return the evaluated groups of each pair of a chemical and a gene, in the order of the relations."""
    types = {one.id: one.type for one in document.source}
    if not set(types.values()) <= {CHEMICAL, *GENES}:
        raise PubmillError(
            f"{document.where}: expected the types {CHEMICAL}, {' and '.join(GENES)}, found "
            f"{', '.join(map(quote, sorted(set(types.values()))))}"
        )
    labels: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for relation in document.relations:
        is_evaluated, (evaluated, *_) = relation.type in EVALUATED, relation.source
        chemical, gene = map(types.get, relation.arguments)
        if chemical != CHEMICAL or gene not in GENES or evaluated.strip() != ("Y" if is_evaluated else "N"):
            raise PubmillError(
                f"{relations}: PMID {document.id}: expected a {CHEMICAL} as Arg1, a {' or '.join(GENES)} as "
                f"Arg2, and `Y` for {', '.join(sorted(EVALUATED))}, else `N`; found {quote(evaluated)} for "
                f"{quote(' '.join((relation.type, *relation.arguments)))}"
            )
        if is_evaluated:
            labels[relation.arguments].append(relation.type)
    return labels


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
