"""Converter of PubMedQA's expert-labelled part (Jin et al. 2019): does an abstract answer yes, no or maybe?

The source is one JSON object: PMID -> question, contexts (the abstract without its conclusion), final
decision. No file lists train or dev: the authors' `preprocess/split_dataset.py` makes the split with a seed.
This module repeats the same random draws, and its test questions must equal those of the authors'
`test_ground_truth.json`. The rest is divided into ten folds; the first is BLURB's dev (`pqal_fold0`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import ceil
from random import Random

from pubmill.convert.source_files import ConverterInput, one_line
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.formats.json_text import parse_row
from pubmill.formats.text_files import read_text
from pubmill.messages.quotations import show

DECISIONS = ("yes", "no", "maybe")
"""Decisions, in the order in which the authors' program draws."""
SEED = 0
FOLDS = 10


def read(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield the examples of a split.

    The sources are `questions` (`ori_pqal.json`) and `ground_truth` (`test_ground_truth.json`). The contexts
    are joined by a space. Raises a `PubmillError` for an entry in another form, and for a test set that
    differs from the authors' list.
    """
    source.check_options()
    path = source.input("questions")
    entries = parse_row(read_text(path), str(path))
    for pmid, entry in entries.items():
        contexts = entry.get("CONTEXTS") if isinstance(entry, dict) else None
        texts = [entry.get("QUESTION"), *contexts] if isinstance(contexts, list) and contexts else [None]
        are_texts = all(isinstance(text, str) and text.strip() for text in texts)
        if not are_texts or not pmid.isdecimal() or entry.get("final_decision") not in DECISIONS:
            raise PubmillError(
                f"{path}: {show(pmid)}: expected a PMID with a QUESTION and a list of CONTEXTS, all of them "
                f"text, and a final_decision of {', '.join(DECISIONS)}"
            )
    decisions = {pmid: entry["final_decision"] for pmid, entry in entries.items()}
    splits = split(decisions, str(path))
    truth = source.input("ground_truth")
    listed = list(parse_row(read_text(truth), str(truth)).items())
    drawn = [(pmid, decisions[pmid]) for pmid in splits["test"]]
    if listed != drawn:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(listed, drawn, strict=False))
        raise PubmillError(
            f"{truth} lists {len(listed)} test questions; {len(drawn)} are drawn, and they differ from "
            f"number {len(list(alike)) + 1} on. Are both files from the commit in the dataset's spec?"
        )
    for pmid in splits[source.split]:
        yield SequenceExample(
            id=pmid,
            document=pmid,
            text=one_line(entries[pmid]["QUESTION"]),
            text_pair=one_line(" ".join(entries[pmid]["CONTEXTS"])),
            label=decisions[pmid],
        )


def split(decisions: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Return the PMIDs of train, dev and test, in order, for PMID -> decision in the order of the file.

    Half of the questions are test; the rest is divided into ten parts, the first of which is dev. The draws
    depend on that order and on `Random`, whose `shuffle` and `choice` have not changed since Python 3.2; the
    comparison with the authors' list of test questions would detect a change.
    """
    draw = Random(SEED)
    rest, test = _stratified_parts(list(decisions), decisions, 2, draw, where)
    dev, *others = _stratified_parts(rest, decisions, FOLDS, draw, where)
    return {"train": [pmid for fold in others for pmid in fold], "dev": dev, "test": test}


def _stratified_parts(
    pmids: Sequence[str], decisions: Mapping[str, str], parts: int, draw: Random, where: str
) -> list[list[str]]:
    """Split the questions into parts with equal shares of each decision. If the last part differs in size
    from the first, it gets one random question from each of the others (51 and 41 become 50)."""
    groups = [[pmid for pmid in pmids if decisions[pmid] == decision] for decision in DECISIONS]
    for group in groups:
        draw.shuffle(group)
    cut: list[list[str]] = []
    for i in range(parts):
        shares = [(group, ceil(len(group) / parts)) for group in groups]
        cut.append([pmid for group, share in shares for pmid in group[i * share : (i + 1) * share]])
    if len(cut[-1]) != len(cut[0]):
        for part in cut[:-1]:
            if not part:
                raise PubmillError(
                    f"{where}: {len(pmids)} questions are too few to be cut into {parts} parts"
                )
            cut[-1].append(part.pop(part.index(draw.choice(part))))
    return cut
