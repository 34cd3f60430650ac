"""Converter of Hallmarks of Cancer (Baker et al. 2016, 2017): abstracts with hallmarks for each sentence.

The corpus is an archive with a text and a file of labels for each abstract, `text/PMID.txt` and
`labels/PMID.txt`. A line of a text is a sentence. The single line of labels has a part for each sentence,
which begins with `<`; a part consists of hallmarks joined by `AND`, each a path like `Resisting cell
death--Apoptosis` whose first step is the hallmark; ` ` and `NULL` mean none. Lists of PMIDs define splits.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import LabelledSentence, MultilabelExample
from pubmill.messages.quotations import quote
from pubmill.storage.archives import decode, members

HALLMARKS = [
    "activating invasion and metastasis",
    "avoiding immune destruction",
    "cellular energetics",
    "enabling replicative immortality",
    "evading growth suppressors",
    "genomic instability and mutation",
    "inducing angiogenesis",
    "resisting cell death",
    "sustaining proliferative signaling",
    "tumor promoting inflammation",
]
"""The ten hallmarks in alphabetical order, in which published forms number them."""

MEMBER = re.compile(r"[^/]+/(text|labels)/([0-9]+)\.txt")
LISTED = re.compile(r"([0-9]+)(\.txt)?")


def read(source: ConverterInput) -> Iterator[MultilabelExample]:
    """Yield one example per abstract of a split, in the order of its list.

    The sources are `archive` and, for each split, a list (`PMID.txt`s joined by commas, as in BLURB, or one
    PMID per line, as in BLUE). An abstract's text consists of its sentences joined by a space, its labels are
    those of all its sentences. Raises a `PubmillError` for a listed abstract that the archive lacks, for an
    unknown hallmark, and for a number of labels that differs from that of the sentences.
    """
    source.check_options()
    wanted = _listed_pmids(source.of_split())
    requested = set(wanted)
    archive = source.input("archive")
    named = ((MEMBER.fullmatch(name), content) for name, content in members(archive))
    contents = {(match[1], match[2]): content for match, content in named if match and match[2] in requested}
    for pmid in wanted:
        if not {("text", pmid), ("labels", pmid)} <= contents.keys():
            raise PubmillError(
                f"{archive} has no text or no labels of {pmid}, which {source.of_split()} names; "
                "is it the archive in the dataset's spec?"
            )
        text_of, labels_of = (f"{archive}: {folder}/{pmid}.txt" for folder in ("text", "labels"))
        sentences = _sentences(decode(contents["text", pmid], text_of), text_of)
        labels = _labels(decode(contents["labels", pmid], labels_of), labels_of)
        if len(labels) != len(sentences):
            raise PubmillError(
                f"{labels_of}: labels of {len(labels)} sentences, but the text has {len(sentences)}"
            )
        starts = accumulate((len(sentence) + 1 for sentence in sentences), initial=0)
        yield MultilabelExample(
            id=pmid,
            document=pmid,
            text=" ".join(sentences),
            labels=sorted({label for own in labels for label in own}),
            sentences=[
                LabelledSentence(start=start, end=start + len(sentence), labels=own)
                for start, sentence, own in zip(starts, sentences, labels, strict=False)
            ],
        )


def _listed_pmids(path: Path) -> list[str]:
    """Return the PMIDs of a list, in its order."""
    text = decode(path.read_bytes(), str(path))
    names = [name.strip() for name in re.split(r"[,\n]", text.strip())]
    pmids = []
    for number, name in enumerate(names, 1):
        match = LISTED.fullmatch(name)
        if match is None:
            raise PubmillError(
                f"{path}: expected PMIDs, joined by commas or one per line; number {number} is {quote(name)}"
            )
        pmids.append(match[1])
    return pmids


def _sentences(text: str, where: str) -> list[str]:
    sentences = text.removesuffix("\n").split("\n")
    for number, sentence in enumerate(sentences, 1):
        if not sentence.strip():
            raise PubmillError(f"{where}:{number}: expected a sentence, found a blank line")
    return [one_line(sentence) for sentence in sentences]


def _labels(line: str, where: str) -> list[list[str]]:
    """Return the hallmarks of each sentence, sorted."""
    before, *parts = line.split("<")
    if before or "\n" in line.removesuffix("\n"):
        raise PubmillError(f"{where}: expected one line, each sentence's labels after a `<`")
    labels = []
    for number, part in enumerate(parts, 1):
        names = {path.partition("--")[0].strip().lower() for path in part.split("AND")} - {"", "null"}
        if unknown := sorted(names - set(HALLMARKS)):
            raise PubmillError(
                f"{where}: sentence {number}: {quote(', '.join(unknown))} is not one of the ten hallmarks"
            )
        labels.append(sorted(names))
    return labels


def write(examples: Sequence[MultilabelExample], form: WriterOptions) -> Iterator[str]:
    """Yield BLURB's form: a row per sentence with 1 or 0 for each hallmark (`0_0,1_1,...`) and `PMID_s0`."""
    yield "labels\tsentence\tindex\n"
    for example in examples:
        for number, sentence in enumerate(example.sentences):
            flags = ",".join(f"{i}_{int(label in sentence.labels)}" for i, label in enumerate(HALLMARKS))
            yield f"{flags}\t{example.text[sentence.start : sentence.end]}\t{example.id}_s{number}\n"
