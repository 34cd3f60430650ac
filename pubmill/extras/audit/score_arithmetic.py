"""The arithmetic behind a verdict on a printed score, in words."""

from math import ceil, floor
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.audit import reachability as reach
from pubmill.extras.audit.attainable_scores import Interval
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts, ScoreKind

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

    scores: reach.Counts
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
    interval = reach.rounding_interval(printed)
    beside = [one for one in reach.beside(interval, *reading) if one]
    decimals = len(printed.partition(".")[2]) + 2
    of_one_run = reading.scores[0].kind != "share" and reading.runs > 1
    parts = []
    if beside:
        shown = " and ".join(f"{one} = {reach.in_per_cent(one, decimals)}" for one in beside)
        parts.append(f"the nearest scores{' of one run' * of_one_run} are {shown}")
    low, high = reach.truncation_interval(printed)
    below = Interval(low, high - (high - low) / 10**12)  # misses no score of fewer than 10^9 items
    cut = reach.is_reachable(below, *reading)
    parts.append(f"{'' if cut else 'not '}reachable if cut off instead of rounded")
    if reading.over == "mean" and reading.runs > 1:
        half = (interval.high - interval.low) / 2
        first = reach.is_reachable(Interval(interval.low - half, interval.high + half), *reading)
        parts.append(f"{'not excluded' if first else 'not reachable'} if each run was rounded first")
    return "; ".join(parts)


def changes(printed: str, reading: Reading) -> str:
    """Return the smallest changes of runs or test split with which a printed score is reachable."""
    interval, (scores, runs, over) = reach.rounding_interval(printed), reading
    fewest = reach.fewest_runs(interval, scores, over)
    nearest = reach.nearest_runs(interval, scores, runs, over)
    size = reach.nearest_size(interval, scores, runs, over)
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
    _, unit = reach.printed_number(printed)
    lowest = ceil((100 * interval.low - unit / 2) / unit) * unit
    highest = floor((100 * interval.high + unit / 2) / unit) * unit
    return f"{float(lowest):.{decimals}f}", f"{float(highest):.{decimals}f}"


def report(printed: str, metric: str, size: int, runs: int, over: Over) -> str:
    """Return the verdict on a printed score with its arithmetic, as lines of text."""
    if size < 1 or runs < 1:
        raise PubmillError(f"--n and --runs must be at least 1, found {size} and {runs}")
    reading = Reading((ScoreCounts(kind=METRICS[metric], sizes=(size,)),), runs, over)
    known = reach.is_reachable(reach.rounding_interval(printed), *reading)
    reached, number = reach.chance(printed, *reading)
    lines = [
        f"{printed}: {VERDICTS[known]}",
        f"read as: {reading.text}",
        f"reachable by chance: {reached} of {number} numbers with the same whole part",
    ]
    if known is False:
        lines.append(f"arithmetic: {arithmetic(printed, reading)}")
        lines.append(f"smallest change: {changes(printed, reading)}")
    return "\n".join(lines)
