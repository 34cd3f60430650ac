"""Converter of EBM-NLP 2.00's archive to tokens examples for PICO, and of these to BLURB's form.

The archive contains `documents/PMID.tokens`, one word per line, and
`annotations/aggregated/starting_spans/LAYER/FOLDER/PMID.AGGREGATED.ann`, one line with 0 or 1 per word, with
the layers participants, interventions and outcomes and the folders `train` and `test/gold`. The split is
SciBERT's, which BLURB uses: lists of PMIDs, separated by commas.

The recipe is that of BLURB's `data_generation` script for EBM-PICO: if a word is in several layers, an
outcome takes precedence over an intervention, and this over a participant; a sentence ends after every word
`.`; documents are in the order of the list. The paper does not have this rule: gu2020 section 4.2 takes the
original scripts, and in 5.2 a word may belong to more than one element. A layer that a document lacks labels
no words.
The examples also keep the original layers, because the original evaluation scores each layer separately.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, lines
from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.messages.quotations import quote
from pubmill.messages.wording import repeated
from pubmill.storage.archives import decode, members

LAYERS = {"participants": "I-PAR", "interventions": "I-INT", "outcomes": "I-OUT"}
"""Layer -> its label; the label of a later layer overrides it."""
FOLDERS = {"train": "train", "dev": "train", "test": "test/gold"}
"""Split -> folder of its annotations: dev is part of the training set, test was annotated by experts."""
SENTENCE_END = "."

_WORDS = re.compile(r"(?:.*/)?documents/([0-9]+)\.tokens")
_LABELS = re.compile(
    rf"(?:.*/)?annotations/aggregated/starting_spans/({'|'.join(LAYERS)})/(train|test/gold)/([0-9]+)\.AGGREGATED\.ann"
)


Value = TypeVar("Value")


class _Tree(NamedTuple):
    """The archive's files for one split: words by PMID, labels by layer and PMID."""

    words: dict[str, list[str]]
    labels: dict[str, dict[str, list[int]]]


def read(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split, with the ids `SPLIT-000001`, ...; sources: `archive`, `SPLIT_pmids`.

    `left_out.documents_without_LAYER` counts the documents that lack a layer. Raises a `PubmillError` for a
    listed document without words or without any layer, and for files that contradict each other.
    """
    source.check_options()
    pmids = _read_pmids(source.of_split("pmids"))
    archive = source.input("archive")
    tree = _read_tree(archive, FOLDERS[source.split], frozenset(pmids))
    number = 0
    for pmid in pmids:
        words, layers = _document(tree, pmid, f"{archive}: {pmid}")
        for name in LAYERS.keys() - layers.keys():
            source.left_out[f"documents_without_{name}"] += 1
        labels = _resolve_layers(layers, len(words))
        for start, end in _sentences(words):
            number += 1
            yield TokensExample(
                id=f"{source.split}-{number:06d}",
                document=pmid,
                words=words[start:end],
                labels=labels[start:end],
                layers={name: layer[start:end] for name, layer in layers.items()},
            )


def write(examples: Sequence[TokensExample], form: WriterOptions) -> Iterator[str]:
    """Yield BLURB's form, which has no options.

    A mark and a blank line precede each document, then follow lines of `word<TAB>label` with a blank line
    after every word `.`, and nowhere else.
    """
    if form.options:
        raise PubmillError(f"published.options is {dict(form.options)}; this form has no options")
    document = None
    for example in examples:
        if example.document != document:
            yield f"-DOCSTART- ({example.document})\n\n"
            document = example.document
        for word, label in zip(example.words, example.labels, strict=True):
            yield f"{word}\t{label}\n" + ("\n" if word == SENTENCE_END else "")


def _read_pmids(path: Path) -> list[str]:
    rows = [line for _, line in lines(path) if line]
    pmids = rows[0].split(",") if len(rows) == 1 else []
    wrong = [pmid for pmid in pmids if not re.fullmatch("[0-9]+", pmid)]
    if not pmids or wrong:
        found = quote(rows[0] if rows else "")
        raise PubmillError(f"{path}:1: expected one line of PMIDs separated by commas, found {found}")
    if twice := repeated(pmids):
        raise PubmillError(f"{path}:1: listed more than once: {', '.join(twice)}")
    return pmids


def _read_tree(archive: Path, folder: str, pmids: frozenset[str]) -> _Tree:
    tree = _Tree({}, {name: {} for name in LAYERS})
    for name, content in members(archive):
        where = f"{archive}:{name}"
        words, labels = _WORDS.fullmatch(name), _LABELS.fullmatch(name)
        if words and words[1] in pmids:
            _add_once(tree.words, words[1], _parse_words(content, where), where)
        elif labels and labels[2] == folder and labels[3] in pmids:
            _add_once(tree.labels[labels[1]], labels[3], _parse_flags(content, where), where)
    return tree


def _add_once(known: dict[str, Value], pmid: str, value: Value, where: str) -> None:
    if pmid in known:
        raise PubmillError(f"{where}: document {pmid} has such a file already")
    known[pmid] = value


def _split_lines(content: bytes, where: str) -> list[str]:
    return decode(content, where).removesuffix("\n").split("\n")


def _parse_words(content: bytes, where: str) -> list[str]:
    words = _split_lines(content, where)
    for number, word in enumerate(words, 1):
        if word.split() != [word]:
            raise PubmillError(
                f"{where}:{number}: expected one word a line, as in release 2.00, found {quote(word)}"
            )
    return words


def _parse_flags(content: bytes, where: str) -> list[int]:
    rows = _split_lines(content, where)
    for number, row in enumerate(rows, 1):
        if row not in ("0", "1"):
            raise PubmillError(f"{where}:{number}: expected 0 or 1, as in release 2.00, found {quote(row)}")
    return [int(row) for row in rows]


def _document(tree: _Tree, pmid: str, where: str) -> tuple[list[str], dict[str, list[int]]]:
    """Return a document's words and its existing layers."""
    words = tree.words.get(pmid)
    if words is None:
        raise PubmillError(f"{where} is listed, but there is no documents/{pmid}.tokens")
    layers = {name: labels[pmid] for name, labels in tree.labels.items() if pmid in labels}
    if not layers:
        raise PubmillError(f"{where} is listed, but has no annotations in the split's folder")
    for name, layer in layers.items():
        if len(layer) != len(words):
            raise PubmillError(f"{where} has {len(words)} words, but {len(layer)} labels of {name}")
    return words, layers


def _resolve_layers(layers: Mapping[str, Sequence[int]], words: int) -> list[str]:
    labels = ["O"] * words
    for name, label in LAYERS.items():
        labels = [
            label if flag else old for flag, old in zip(layers.get(name, [0] * words), labels, strict=True)
        ]
    return labels


def _sentences(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (first word, word after the last) of each sentence."""
    ends = [place + 1 for place, word in enumerate(words) if word == SENTENCE_END]
    if not ends or ends[-1] < len(words):
        ends.append(len(words))
    yield from zip([0, *ends], ends, strict=False)
