"""Converter of BIOSSES: pairs of sentences whose similarity five annotators scored from 0 to 4.

The original file contains the pairs and each annotator's score; BLUE split it into three lists of pairs,
which BLURB distributes as tab-separated files `pair_id, sent1, sent2, score`. The examples are those of the
lists, in their order, with scores recomputed as the mean of the annotators' scores.
"""

from collections.abc import Iterator
from statistics import fmean

from pubmill.convert.source_files import ConverterInput, table
from pubmill.errors import PubmillError
from pubmill.examples.kinds import RegressionExample
from pubmill.messages.quotations import quote, show

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
    rated: dict[str, tuple[list[str], list[float]]] = {}  # number of a pair -> its sentences and ratings
    for where, cells in table(source.input("ratings"), RATED, RATED):
        pair, text, text_pair, *scores = cells.values()
        if not pair.isdecimal() or pair in rated:
            raise PubmillError(f"{where}: expected a pair's number that isn't used yet, found {quote(pair)}")
        if not set(scores) <= RATINGS:
            raise PubmillError(f"{where}: expected scores from 0 to 4, found {quote(' '.join(scores))}")
        rated[pair] = [text, text_pair], list(map(float, scores))
    for where, cells in table(source.of_split(), LISTED, LISTED):
        pair, text, text_pair, score = cells.values()
        originals, ratings = rated.get(pair, ([], [0.0]))
        if [one.split() for one in (text, text_pair)] != [one.split() for one in originals]:
            raise PubmillError(
                f"{where}: the pair {show(pair)} does not have these sentences in the file of ratings"
            )
        mean = fmean(ratings)
        if score != str(mean):
            raise PubmillError(
                f"{where}: pair {show(pair)} has the score {quote(score)}, but the mean of its annotators is "
                f"{mean}"
            )
        yield RegressionExample(
            id=pair, document=None, text=text, text_pair=text_pair, score=mean, ratings=ratings
        )
