"""Whether a printed score can result from the stated test split, runs, aggregate and rounding.

As GRIM (Brown and Heathers 2017) for means of whole numbers, and as the consistency tests of mlscorecheck
(Fazekas and Kovacs 2023) for scores of one confusion matrix, but exact: intervals and scores are fractions.
A printed score stands for the closed interval half a unit of its last digit around it. Half up, half even and
binary floating-point numbers round a score at an end of the interval in either direction, so both ends belong
to it. Truncation is tested apart (`truncation_interval`).
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil, floor
from statistics import mean
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.audit import attainable_scores as attainable
from pubmill.extras.audit.attainable_scores import Interval, Neighbours, Quotient, within
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts, ScoreKind

SUMMED = ("share", "reciprocal_rank")
"""Kinds whose mean over n runs is a score of one run on n times the items."""
ANCHORS = 400
"""Number of scores near the printed one that a mean of unequal runs is searched from."""
MOST_RUNS, MOST_SIZES = 1000, 1000
"""How far the smallest change that makes a score reachable is searched."""

Counts = tuple[ScoreCounts, ...]
"""The counts of one test split, or of the folds that are scored together."""


def printed_number(printed: str) -> tuple[Fraction, Fraction]:
    """Return a printed score and one unit of its last digit, both in per cent."""
    if not re.fullmatch(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9})?", printed):
        raise PubmillError(f"{printed!r} is not a printed score; expected digits, such as 87.56")
    return Fraction(printed), Fraction(1, 10 ** len(printed.partition(".")[2]))


def rounding_interval(printed: str) -> Interval:
    """Return the scores that are printed so, if they are rounded."""
    value, unit = printed_number(printed)
    return Interval((value - unit / 2) / 100, (value + unit / 2) / 100)


def truncation_interval(printed: str) -> Interval:
    """Return the scores that are printed so, if their further digits are cut off; the upper end, which is
    printed otherwise, is in the interval too."""
    value, unit = printed_number(printed)
    return Interval(value / 100, (value + unit) / 100)


def is_reachable(interval: Interval, scores: Counts, runs: int, over: Over) -> bool | None:
    """Return whether runs exist whose mean, median or maximum is in the interval; None if not decided.

    With several test splits (folds), a maximum, or a median of an odd number of runs, is the score of one run
    on one of them.
    """
    averaged = _averaged(runs, over)
    if all(score.kind in SUMMED for score in scores) and len(scores) == 1:
        summed = replace(scores[0], sizes=(scores[0].sizes[0] * averaged,))
        return within(interval, summed) is not None
    reached = [within(interval, score) is not None for score in scores]
    if any(reached) if over != "mean" or len(scores) == 1 else all(reached):
        return True
    if any(score.kind == "mean_f1" for score in scores):
        return None
    if averaged == 1:
        return False
    return _unequal_runs(interval, scores[0], averaged) if len(scores) == 1 else None


def _averaged(runs: int, over: Over) -> int:
    """Return the number of runs whose mean the score is."""
    return {"mean": runs, "median": 2 - runs % 2, "max": 1}[over]


def _unequal_runs(interval: Interval, score: ScoreCounts, runs: int) -> bool | None:
    """Decide for the mean of runs whose scores can't all be in the interval: all runs but one have the same
    score near it, and the last makes up for the difference."""
    if score.kind != "f1":
        return False
    gold, wrong = score.sizes[0], score.wrong
    if interval.high < 0 or interval.low > 1:
        return False
    if interval.high < 1 and interval.low > 1 - (1 - attainable.highest_f1_below_one(gold, wrong)) / runs:
        return False
    if interval.low > 0 and interval.high < attainable.lowest_f1_above_zero(gold, wrong) / runs:
        return False
    near = {one.value for one in attainable.f1_near(interval, gold, wrong)}
    middle = (interval.low + interval.high) / 2
    anchors = sorted(near, key=lambda one: abs(one - middle))[:ANCHORS]
    rests = (Interval(*(runs * end - (runs - 1) * value for end in interval)) for value in anchors)
    return any(within(rest, score) for rest in rests) or None


def beside(interval: Interval, scores: Counts, runs: int, over: Over) -> Neighbours:
    """Return the scores around an interval that contains none; of F1, those of one run."""
    score = scores[0]
    if score.kind == "share":
        return attainable.shares_beside(interval, score.sizes[0] * _averaged(runs, over))
    if score.kind == "f1" and len(scores) == 1:
        return attainable.f1_beside(interval, score.sizes[0], score.wrong)
    return None, None


def fewest_runs(interval: Interval, scores: Counts, over: Over) -> int | None:
    """Return the smallest number of runs with which a score is reachable, None if none is found."""
    numbers = range(1, MOST_RUNS + 1) if over == "mean" else (1, 2)
    return next((runs for runs in numbers if is_reachable(interval, scores, runs, over)), None)


def nearest_runs(interval: Interval, scores: Counts, runs: int, over: Over) -> int | None:
    """Return the number of runs that reaches a score, nearest to the stated one (the smaller of two)."""
    numbers = (runs + step * sign for step in range(1, MOST_RUNS + 1) for sign in (-1, 1))
    known = (one for one in numbers if one >= 1 and is_reachable(interval, scores, one, over))
    return next(known, None) if over == "mean" else fewest_runs(interval, scores, over)


def nearest_size(interval: Interval, scores: Counts, runs: int, over: Over) -> int | None:
    """Return the size of the test split (items, or gold items) nearest to the stated one with which a score
    is reachable, the smaller one of two; None if none is found."""
    score = scores[0]
    if len(scores) > 1 or len(score.sizes) != 1:
        return None
    sizes = (score.sizes[0] + step * sign for step in range(1, MOST_SIZES + 1) for sign in (-1, 1))
    others = (replace(score, sizes=(size,)) for size in sizes if size >= 1)
    return next((one.sizes[0] for one in others if is_reachable(interval, (one,), runs, over)), None)


@cache
def reachable_share(scores: Counts, runs: int, over: Over, decimals: int, whole: int) -> tuple[int, int]:
    """Return how many printable scores with this whole part (87: 87.00 to 87.99) are reachable or undecided,
    and their number. The ratio is the chance that an arbitrary number is reachable."""
    number = 10**decimals
    texts = [f"{whole}.{part:0{decimals}d}" if decimals else str(whole) for part in range(number)]
    known = [is_reachable(rounding_interval(text), scores, runs, over) for text in texts]
    return sum(one is not False for one in known), number


def chance(printed: str, scores: Counts, runs: int, over: Over) -> tuple[int, int]:
    """Return `reachable_share` around a printed score, counted with at most three decimals."""
    value, _ = printed_number(printed)
    decimals = min(len(printed.partition(".")[2]), 3)
    return reachable_share(scores, runs, over, decimals, floor(value))


def mean_interval(groups: Sequence[Sequence[Interval]]) -> Interval:
    """Return the interval of the mean over groups of the means of their values."""
    means = [Interval(*map(mean, zip(*group, strict=True))) for group in groups]
    return Interval(*map(mean, zip(*means, strict=True)))


def f1_of_means(precision: Interval, recall: Interval) -> Interval:
    """Return the interval of the mean F1 of any number of runs with these mean precisions and recalls.

    F1, the harmonic mean, is a concave function of precision and recall, so the mean of F1 is at most the F1
    of the means; and F1 is at least the smaller of the two, hence at least their sum minus 1.
    """
    low = max(precision.low + recall.low - 1, Fraction(0))
    return Interval(low, harmonic_mean(min(precision.high, Fraction(1)), min(recall.high, Fraction(1))))


def harmonic_mean(one: Fraction, other: Fraction) -> Fraction:
    """Return the harmonic mean of two scores, 0 if both are 0."""
    return 2 * one * other / (one + other) if one + other else Fraction(0)


def in_per_cent(score: Fraction | Quotient, decimals: int) -> str:
    """Return a score in per cent, rounded half even to some decimals."""
    value = score.value if isinstance(score, Quotient) else score
    return f"{float(round(100 * value, decimals)):.{decimals}f}"


ONE_RUN = {
    "share": "k/{}",
    "reciprocal_rank": "the mean reciprocal rank of {} questions",
    "f1": "an F1 with {} gold items",
    "mean_f1": "a mean of F1 with {} gold items",
    "correlation": "a correlation",
}
METRICS: dict[str, ScoreKind] = {"accuracy": "share", "recall": "share", "f1": "f1", "mrr": "reciprocal_rank"}
"""Metric on the command line -> kind of score. F1 is micro F1, or that of entities or of one class."""
VERDICTS = {
    True: "reachable",
    False: "unreachable under the stated protocol",
    None: "not decided: the search over counts is not exhaustive for this score, and found none",
}


class Reading(NamedTuple):
    """Assumed origin of a printed score: counts of one run (or one per fold), number of runs, aggregate."""

    scores: Counts
    runs: int
    over: Over

    @property
    def text(self) -> str:
        """The reading in words: `mean of 10 runs of k/140, which is k/1400`."""
        score = self.scores[0]
        sizes = dict.fromkeys(", ".join(map(str, one.sizes)) for one in self.scores)
        one = ONE_RUN[score.kind].format(" or ".join(sizes))
        if self.runs == 1:
            return f"one run of {one}"
        is_share_of_all = self.over == "mean" and score.kind == "share" and len(self.scores) == 1
        total = f", which is k/{self.runs * score.sizes[0]}" if is_share_of_all else ""
        return f"{self.over} of {self.runs} runs of {one}{total}"


def arithmetic(printed: str, reading: Reading) -> str:
    """Return why a printed score is unreachable: the scores beside it, and the other ways to print it."""
    interval = rounding_interval(printed)
    nearest = [one for one in beside(interval, *reading) if one]
    decimals = len(printed.partition(".")[2]) + 2
    of_one_run = reading.scores[0].kind != "share" and reading.runs > 1
    parts = []
    if nearest:
        shown = " and ".join(f"{one} = {in_per_cent(one, decimals)}" for one in nearest)
        parts.append(f"the nearest scores{' of one run' * of_one_run} are {shown}")
    low, high = truncation_interval(printed)
    below = Interval(low, high - (high - low) / 10**12)  # misses no score of fewer than 10^9 items
    cut = is_reachable(below, *reading)
    parts.append(f"{'' if cut else 'not '}reachable if cut off instead of rounded")
    if reading.over == "mean" and reading.runs > 1:
        half = (interval.high - interval.low) / 2
        first = is_reachable(Interval(interval.low - half, interval.high + half), *reading)
        parts.append(f"{'not excluded' if first else 'not reachable'} if each run was rounded first")
    return "; ".join(parts)


def changes(printed: str, reading: Reading) -> str:
    """Return the smallest changes of runs or test split with which a printed score is reachable."""
    interval, (scores, runs, over) = rounding_interval(printed), reading
    fewest = fewest_runs(interval, scores, over)
    nearest = nearest_runs(interval, scores, runs, over)
    size = nearest_size(interval, scores, runs, over)
    ways = []
    if fewest and nearest:
        number = f"at least {fewest}" if fewest > runs else str(nearest)
        ways.append(f"{number} run{'s' * (nearest > 1)} on the same {_items(reading)}")
    if size:
        ways.append(f"the same runs on {size} instead of {_items(reading)}")
    return "reachable with " + ", or with ".join(ways) if ways else "no change tried makes it reachable"


def _items(reading: Reading) -> str:
    score = reading.scores[0]
    unit = {"share": "items", "reciprocal_rank": "questions"}.get(score.kind, "gold items")
    return f"{' or '.join(dict.fromkeys(str(one.sizes[0]) for one in reading.scores))} {unit}"


def printed_range(interval: Interval, printed: str) -> tuple[str, str]:
    """Return the lowest and highest number as which scores are printed, with the decimals of another."""
    decimals = len(printed.partition(".")[2])
    _, unit = printed_number(printed)
    lowest = ceil((100 * interval.low - unit / 2) / unit) * unit
    highest = floor((100 * interval.high + unit / 2) / unit) * unit
    return f"{float(lowest):.{decimals}f}", f"{float(highest):.{decimals}f}"


def report(printed: str, metric: str, size: int, runs: int, over: Over) -> str:
    """Return the verdict on a printed score with its arithmetic, as lines of text."""
    if size < 1 or runs < 1:
        raise PubmillError(f"--n and --runs must be at least 1, found {size} and {runs}")
    reading = Reading((ScoreCounts(kind=METRICS[metric], sizes=(size,)),), runs, over)
    known = is_reachable(rounding_interval(printed), *reading)
    reached, number = chance(printed, *reading)
    lines = [
        f"{printed}: {VERDICTS[known]}",
        f"read as: {reading.text}",
        f"reachable by chance: {reached} of {number} numbers with the same whole part",
    ]
    if known is False:
        lines.append(f"arithmetic: {arithmetic(printed, reading)}")
        lines.append(f"smallest change: {changes(printed, reading)}")
    return "\n".join(lines)
