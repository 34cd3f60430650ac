"""The numbers of docs/public-copies.md, counted again in the files."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from pubmill.storage.files import sha256

pytestmark = pytest.mark.weekly

SPLITS = ("train", "devel", "test")


@pytest.fixture
def page(root: Path) -> str:
    return (root / "docs/public-copies.md").read_text()


def found(shared: Path, pattern: str) -> Path:
    [path] = (shared / "mirror/raw.githubusercontent.com").glob(pattern)
    return path


def sentences(path: Path) -> list[list[list[str]]]:
    """Return the lines of each sentence of an IOB file, as word and label."""
    blocks = re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))
    return [
        [re.split(r"\s+", line.strip()) for line in block.split("\n") if line.strip()]
        for block in blocks
        if block.strip()
    ]


def mentions(path: Path) -> int:
    return sum(line[-1].startswith("B") for sentence in sentences(path) for line in sentence)


def annotated(path: Path, kind: str = "") -> int:
    """Return the number of mentions in a PubTator file."""
    return len(re.findall(rf"(?m)^\d+\t\d+\t\d+\t[^\t]*\t{kind}", path.read_text(encoding="utf-8")))


def test_the_last_questions_are_not_the_test_questions(shared: Path, page: str) -> None:
    files = [
        found(shared, f"pubmedqa/pubmedqa/*/data/{name}.json") for name in ("ori_pqal", "test_ground_truth")
    ]
    assert all(sha256(path)[:12] in page for path in files)
    questions, test = (json.loads(path.read_text()) for path in files)
    last = list(questions)[500:]
    assert (len(last), len(test)) == (500, 500)
    common = len(test.keys() & set(last))
    assert f"{common} of the last 500 are test questions, {500 - common} are of train and dev" in page
    counts = (Counter(questions[name]["final_decision"] for name in names) for names in (test, last))
    shown = [", ".join(str(count[answer]) for answer in ("yes", "no", "maybe")) for count in counts]
    assert " and ".join(shown) in page


def test_copies_of_corpora_differ_as_the_page_says(shared: Path, page: str) -> None:
    iob = found(shared, "cambridgeltl/MTL-Bioinformatics-2016/*/data")
    corpus = found(shared, "agar3s/PubSeqDNorm/*/data/NCBItrainset_corpus.txt")
    assert f"{len(re.findall(r'(?m)^[0-9]+[|]t[|]', corpus.read_text()))} abstracts" in page
    copies = [corpus, iob / "NCBI-disease-IOB/train.tsv"]
    assert [annotated(copies[0]), mentions(copies[1])] == [5145, 5134]
    assert all(sha256(path)[:12] in page for path in copies) and "5,145" in page and "5,134" in page
    raw = found(shared, "kingsaint/BioMedical-EL/*/data/BC5CDR/raw_data")
    for kind, folder in (("Disease", "BC5CDR-disease-IOB"), ("Chemical", "BC5CDR-chem-IOB")):
        for name, split in zip(("train", "dev", "test"), SPLITS, strict=True):
            path = raw / f"{name}_corpus.txt"
            ours, theirs = annotated(path, kind), mentions(iob / folder / f"{split}.tsv")
            assert sha256(path)[:12] in page and f"{ours:,}" in page and f"{theirs:,}" in page
            assert theirs - ours == (2 if (kind, name) == ("Disease", "dev") else 0)


def test_words_of_linnaeus_differ(shared: Path, page: str) -> None:
    first = found(shared, "cambridgeltl/MTL-Bioinformatics-2016/*/data/linnaeus-IOB")
    second = found(shared, "shreyashub/BioFLAIR/*/data/ner/linnaeus")
    different, sizes = [], []
    for split in SPLITS:
        pairs = list(zip(sentences(first / f"{split}.tsv"), sentences(second / f"{split}.tsv"), strict=True))
        different.append(sum([line[0] for line in one] != [line[0] for line in two] for one, two in pairs))
        sizes.append(f"{len(pairs):,}")
    said = f"in {different[0]}, {different[1]} and {different[2]} of {sizes[0]}, {sizes[1]} and {sizes[2]}"
    assert f"other words {said} sentences" in page
