"""Converter of BIOSSES: pairs of sentences whose similarity five annotators scored from 0 to 4.

The original file contains the pairs and each annotator's score; BLUE split it into three lists of pairs,
which BLURB distributes as tab-separated files `pair_id, sent1, sent2, score`. The examples are those of the
lists, in their order, with scores recomputed as the mean of the annotators' scores.
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from pubmill.convert.source_files import ConverterInput, lines
from pubmill.errors import PubmillError
from pubmill.examples.kinds import RegressionExample
from pubmill.messages.quotations import quote

ANNOTATORS = [f"annotator_{letter}" for letter in "abcde"]
RATED = ["sentence_id", "sentence_1", "sentence_2", *ANNOTATORS]
LISTED = ["pair_id", "sent1", "sent2", "score"]
RATINGS = {"0", "1", "2", "3", "4"}


def read(source: ConverterInput) -> Iterator[RegressionExample]:
    """Yield the examples of one split, from the sources `ratings` (the original file) and BLURB's list.

    The sentences are those of the list, which must differ from the original's only in white space (a no-break
    space for a space, none at the ends). A `PubmillError` names the file and line of a pair that the original
    lacks or has with other words, and of a score that is not the mean.
    """
    source.check_options()
    rated: dict[
        str, tuple[tuple[str, str], list[float]]
    ] = {}  # number of a pair -> its sentences and ratings
    for where, (pair, text, text_pair, *scores) in _rows(source.input("ratings"), RATED):
        if not pair.isdecimal() or pair in rated:
            raise PubmillError(f"{where}: expected a pair's number that isn't used yet, found {quote(pair)}")
        if not set(scores) <= RATINGS:
            raise PubmillError(f"{where}: expected scores from 0 to 4, found {quote(' '.join(scores))}")
        rated[pair] = (text, text_pair), list(map(float, scores))
    seen: set[str] = set()
    for where, (pair, text, text_pair, score) in _rows(source.of_split(), LISTED):
        if pair not in rated or pair in seen:
            what = "occurs for the second time" if pair in seen else "is not in the file of ratings"
            raise PubmillError(f"{where}: the pair {pair} {what}")
        seen.add(pair)
        originals, ratings = rated[pair]
        for one, given in zip((text, text_pair), originals, strict=True):
            if one.split() != given.split():
                raise PubmillError(
                    f"{where}: the sentence {quote(one)} is not that of the file of ratings, {quote(given)}"
                )
        mean = fmean(ratings)
        if score != str(mean):
            raise PubmillError(
                f"{where}: pair {pair} has the score {quote(score)}, but the mean of its annotators is {mean}"
            )
        yield RegressionExample(
            id=pair, document=None, text=text, text_pair=text_pair, score=mean, ratings=ratings
        )


def _rows(path: Path, headings: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (file and line, cells) of each row after the headings."""
    for number, line in lines(path):
        cells = line.split("\t")
        if number == 1 and cells != headings:
            raise PubmillError(
                f"{path}:1: expected the headings {'<TAB>'.join(headings)}, found {quote(line)}"
            )
        if len(cells) != len(headings) or not all(cell.strip() for cell in cells):
            raise PubmillError(f"{path}:{number}: expected {len(headings)} columns, none of them empty")
        if number > 1:
            yield f"{path}:{number}", cells
