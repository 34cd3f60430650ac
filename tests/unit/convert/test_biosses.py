"""BIOSSES: lists of pairs compared with the original ratings."""

from collections import Counter
from pathlib import Path

import pytest

from pubmill.convert.biosses import read
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import RegressionExample

HEAD = (
    "sentence_id\tsentence_1\tsentence_2\tannotator_a\tannotator_b\tannotator_c\tannotator_d\tannotator_e\n"
)
RATINGS = HEAD + "1\tOne  cell .\tTwo cells. \t4\t4\t3\t4\t4\n2\tA\tB\t0\t0\t0\t0\t0\n"
LIST = "pair_id\tsent1\tsent2\tscore\n2\tA\tB\t0.0\n1\tOne \u00a0cell .\tTwo cells.\t3.8\n"


def convert(folder: Path, ratings: str = RATINGS, listed: str = LIST) -> list[RegressionExample]:
    (folder / "ratings.tsv").write_text(ratings, encoding="utf-8")
    (folder / "dev.tsv").write_text(listed, encoding="utf-8")
    inputs = {"ratings": folder / "ratings.tsv", "dev": folder / "dev.tsv"}
    return list(read(ConverterInput("dev", inputs, {}, Counter())))


def test_pairs_come_in_the_order_of_the_list_with_the_mean_of_the_ratings(tmp_path: Path) -> None:
    none, high = convert(tmp_path)
    assert (none.id, none.score, none.ratings) == ("2", 0.0, [0.0] * 5)
    assert (high.id, high.score, high.ratings) == ("1", 3.8, [4.0, 4.0, 3.0, 4.0, 4.0])
    assert (high.text, high.text_pair) == ("One \u00a0cell .", "Two cells.")
    ratings = RATINGS.replace("0\t0\t0\t0\t0", "0\t1\t2\t3\t4")
    found, _ = convert(tmp_path, ratings, LIST.replace("0.0", "2.0"))
    assert (found.score, found.ratings) == (2.0, [0.0, 1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(("old", "new", "message"), [
    ("3.8", "3.6", r"dev\.tsv:3: pair 1 has the score '3.6', but the mean of its annotators is 3.8"),
    ("3.8", "high", r"dev\.tsv:3: pair 1 has the score 'high'"),
    ("Two cells.\t", "Two cats.\t", r"dev\.tsv:3: the pair 1 does not have these sentences in the file"),
    ("2\tA\tB\t0.0", "3\tA\tB\t0.0", r"dev\.tsv:2: the pair 3 does not have these sentences"),
    ("\t0.0", "", r"dev\.tsv:2: expected 4 columns"),
    ("sent1", "text", r"dev\.tsv:1: expected the headings pair_id<TAB>sent1"),
    ("\t4\t4\t3", "\t4\t5\t3", r"ratings\.tsv:2: expected scores from 0 to 4, found '4 5 3 4 4'"),
    ("\t4\t4\t3", "\t4\t3", r"ratings\.tsv:2: expected 8 columns"),
    ("2\tA\tB\t0\t", "1\tA\tB\t0\t", r"ratings\.tsv:3: expected a pair's number that isn't used .*'1'"),
    ("2\tA\tB\t0\t", "x\tA\tB\t0\t", r"ratings\.tsv:3: expected a pair's number"),
    ("annotator_e", "annotator_f", r"ratings\.tsv:1: expected the headings"),
])  # fmt: skip
def test_broken_or_contradictory_files_are_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert (old in RATINGS) != (old in LIST)
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path, RATINGS.replace(old, new, 1), LIST.replace(old, new, 1))
