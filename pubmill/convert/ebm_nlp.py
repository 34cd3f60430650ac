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
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

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

_FILE = re.compile(
    r"(?:.*/)?(?:documents/(?P<words>[0-9]+)\.tokens|annotations/aggregated/starting_spans/"
    rf"(?P<layer>{'|'.join(LAYERS)})/(?P<folder>train|test/gold)/(?P<labels>[0-9]+)\.AGGREGATED\.ann)"
)
Rows = dict[str, dict[str, list[str]]]
"""`words` or a layer -> PMID -> the lines of its file."""


def read(source: ConverterInput) -> Iterator[TokensExample]:
    """Yield the examples of one split, with the ids `SPLIT-000001`, ...; sources: `archive`, `SPLIT_pmids`.

    `left_out.documents_without_LAYER` counts the documents that lack a layer. Raises a `PubmillError` for a
    listed document without words or without any layer, and for files that contradict each other.
    """
    source.check_options()
    pmids = _read_pmids(source.of_split("pmids"))
    archive = source.input("archive")
    rows = _read_rows(archive, FOLDERS[source.split], frozenset(pmids))
    number = 0
    for pmid in pmids:
        words, layers = _document(rows, pmid, f"{archive}: {pmid}")
        for name in LAYERS.keys() - layers.keys():
            source.left_out[f"documents_without_{name}"] += 1
        # a later layer overrides the others
        marked = [
            [label for name, label in LAYERS.items() if name in layers and layers[name][place]]
            for place in range(len(words))
        ]
        labels = [own[-1] if own else "O" for own in marked]
        ends = sorted({len(words), *(n for n, word in enumerate(words, 1) if word == SENTENCE_END)})
        for start, end in pairwise([0, *ends]):
            number += 1
            yield TokensExample(
                id=f"{source.split}-{number:06d}",
                document=pmid,
                words=words[start:end],
                labels=labels[start:end],
                layers={name: layer[start:end] for name, layer in layers.items()},
            )


def write(examples: Sequence[TokensExample], form: WriterOptions) -> Iterator[str]:
    """Yield BLURB's form, which has no options. A mark and a blank line precede each document, then follow
    lines of `word<TAB>label` with a blank line after every word `.`, and nowhere else."""
    form.refuse_all()
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
    if not pmids or not all(re.fullmatch("[0-9]+", pmid) for pmid in pmids) or repeated(pmids):
        found = quote(rows[0] if rows else "")
        raise PubmillError(
            f"{path}:1: expected one line of distinct PMIDs separated by commas, found {found}"
        )
    return pmids


def _read_rows(archive: Path, folder: str, pmids: frozenset[str]) -> Rows:
    found: Rows = {name: {} for name in ("words", *LAYERS)}
    for name, content in members(archive):
        file = _FILE.fullmatch(name)
        if file and file["folder"] in (None, folder) and (pmid := file["words"] or file["labels"]) in pmids:
            found[file["layer"] or "words"][pmid] = _parse_rows(
                content, f"{archive}:{name}", bool(file["layer"])
            )
    return found


def _parse_rows(content: bytes, where: str, are_flags: bool) -> list[str]:
    rows = decode(content, where).removesuffix("\n").split("\n")
    expected = "0 or 1" if are_flags else "one word a line"
    for number, row in enumerate(rows, 1):
        if row not in ("0", "1") if are_flags else row.split() != [row]:
            raise PubmillError(
                f"{where}:{number}: expected {expected}, as in release 2.00, found {quote(row)}"
            )
    return rows


def _document(rows: Rows, pmid: str, where: str) -> tuple[list[str], dict[str, list[int]]]:
    words = rows["words"].get(pmid)
    layers = {name: list(map(int, rows[name][pmid])) for name in LAYERS if pmid in rows[name]}
    if words is None or not layers:
        lacking = "annotations in the split's folder" if words else f"documents/{pmid}.tokens"
        raise PubmillError(f"{where} is listed, but has no {lacking}")
    for name, layer in layers.items():
        if len(layer) != len(words):
            raise PubmillError(f"{where} has {len(words)} words, but {len(layer)} labels of {name}")
    return words, layers
