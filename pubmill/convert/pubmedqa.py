"""PubMedQA, the expert-labelled part (Jin et al. 2019): does an abstract answer a question yes, no or maybe?

The source is one JSON object: PMID -> question, contexts (the abstract without its conclusion), final
decision. No file says what is train or dev: the authors' `preprocess/split_dataset.py` makes the split
with a seed. The same draws are made here, and the test questions must then be those of the authors'
`test_ground_truth.json`. Of the ten folds of the rest, BLURB takes the first as dev (its `pqal_fold0`).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from pubmill.annotation.examples import SequenceExample
from pubmill.convert import json_files
from pubmill.convert.source_files import Given, one_line, show
from pubmill.errors import PubmillError

DECISIONS = ("yes", "no", "maybe")
"""In the order in which the authors' program draws."""
SEED = 0
FOLDS = 10


def read(given: Given) -> Iterator[SequenceExample]:
    """Read one split: sources `questions` (`ori_pqal.json`) and `ground_truth` (`test_ground_truth.json`).

    The contexts are joined by a blank. A `PubmillError` tells of an entry in another form, and of a
    test set that isn't the one that the authors list.
    """
    given.check_options()
    path = given.input("questions")
    entries = json_files.read_object(path)
    for pmid, entry in entries.items():
        _check_entry(pmid, entry, str(path))
    decisions = {pmid: entry["final_decision"] for pmid, entry in entries.items()}
    splits = split(decisions, str(path))
    _check_test(splits["test"], decisions, given.input("ground_truth"))
    for pmid in splits[given.split]:
        yield SequenceExample(
            id=pmid,
            document=pmid,
            text=one_line(entries[pmid]["QUESTION"]),
            text_pair=one_line(" ".join(entries[pmid]["CONTEXTS"])),
            label=decisions[pmid],
        )


def split(decisions: Mapping[str, str], where: str) -> dict[str, list[str]]:
    """Train, dev and test, each as PMIDs in its order, of PMID -> decision in the order of the file.

    Half of the questions are test; the rest is cut into ten, of which the first is dev. What is drawn
    depends on that order and on `Random`, whose `shuffle` and `choice` have been the same since Python
    3.2; the authors' list of test questions would tell if they changed.
    """
    draw = Random(SEED)
    rest, test = _cut(list(decisions), decisions, 2, draw, where)
    dev, *others = _cut(rest, decisions, FOLDS, draw, where)
    return {"train": [pmid for fold in others for pmid in fold], "dev": dev, "test": test}


def _cut(
    pmids: Sequence[str], decisions: Mapping[str, str], parts: int, draw: Random, where: str
) -> list[list[str]]:
    """Parts with like shares of each decision. A last part of another size than the first gets one
    question, drawn, from each of the others (51 and 41 become 50)."""
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


def _check_entry(pmid: str, entry: Any, where: str) -> None:
    contexts = entry.get("CONTEXTS") if isinstance(entry, dict) else None
    texts = [entry.get("QUESTION"), *contexts] if isinstance(contexts, list) and contexts else [None]
    if not pmid.isdecimal() or not all(isinstance(text, str) and text.strip() for text in texts):
        raise PubmillError(
            f"{where}: {show(pmid)}: expected a PMID with a QUESTION and a list of CONTEXTS, all of them text"
        )
    if entry.get("final_decision") not in DECISIONS:
        raise PubmillError(f"{where}: {pmid}: expected a final_decision of {', '.join(DECISIONS)}")


def _check_test(test: Sequence[str], decisions: Mapping[str, str], path: Path) -> None:
    listed = list(json_files.read_object(path).items())
    drawn = [(pmid, decisions[pmid]) for pmid in test]
    if listed != drawn:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(listed, drawn, strict=False))
        raise PubmillError(
            f"{path} lists {len(listed)} test questions; {len(drawn)} are drawn, and they differ from number "
            f"{len(list(alike)) + 1} on. Are both files of the commit that the dataset's spec pins?"
        )
