"""Replay of `next_runs` on 240 small runs, against the same runs with fixed numbers of seeds.

`small_runs.jsonl` has their scores: six feed-forward taggers on windows of words (NCBI-disease, BC5-disease:
strict F1 of entities) or classifiers of averaged word vectors (GAD, PubMedQA: accuracy), trained for three or
six epochs on the real datasets (the entities on 1,500 sentences) with seeds 1 to 10.
"""

import itertools
import json
from pathlib import Path

import pytest
from scipy import stats

from pubmill.statistics.resampling import holm
from pubmill.statistics.seed_stopping import next_runs, pair_states

RUNS = Path(__file__).with_name("small_runs.jsonl")
Scores = dict[str, list[float]]
Decided = set[tuple[str, str, str, bool]]
"""Dataset, two models, and whether the first is better."""


@pytest.fixture(scope="module")
def rows() -> dict[str, tuple[Scores, int]]:
    """Dataset -> scores of each model by seed, and number of scored items."""
    found: dict[str, tuple[Scores, int]] = {}
    for line in RUNS.read_text().splitlines():
        run = json.loads(line)
        scores, _ = found.setdefault(run["dataset"], ({}, run["items"]))
        scores.setdefault(run["model"], []).append(run["score"])
    return found


def by_t_tests(dataset: str, scores: Scores, most: int) -> Decided:
    """The pairs that paired t tests of all runs decide, adjusted by Holm."""
    pairs = list(itertools.combinations(scores, 2))
    tests = [stats.ttest_rel(scores[a][:most], scores[b][:most]) for a, b in pairs]
    adjusted = holm([float(test.pvalue) for test in tests])
    return {
        (dataset, a, b, bool(test.statistic > 0))
        for (a, b), test, p in zip(pairs, tests, adjusted, strict=True)
        if p <= 0.05
    }


def replayed(dataset: str, scores: Scores, items: int, most: int) -> tuple[int, Decided]:
    """Make the runs in the order of the plan; their number and the pairs that they decide."""
    known: Scores = {model: [] for model in scores}
    while batch := list(next_runs(known, most, items)):
        for model in batch:
            known[model].append(scores[model][len(known[model])])
    states = pair_states(known, most, items)
    decided = {(dataset, one.first, one.second, one.difference > 0) for one in states if one.decided}
    return sum(map(len, known.values())), decided


@pytest.mark.parametrize(
    ("most", "made", "fixed", "same", "others"), [(5, 69, 18, 18, 1), (10, 76, 22, 18, 0)]
)
def test_fewer_runs_decide_nearly_the_same_pairs(
    rows: dict[str, tuple[Scores, int]], most: int, made: int, fixed: int, same: int, others: int
) -> None:
    every = sum(most * len(scores) for scores, _ in rows.values())
    replays = [replayed(dataset, scores, items, most) for dataset, (scores, items) in rows.items()]
    ours: Decided = set().union(*(decided for _, decided in replays))
    theirs: Decided = set().union(*(by_t_tests(dataset, one, most) for dataset, (one, _) in rows.items()))
    assert (sum(number for number, _ in replays), len(theirs), len(ours & theirs)) == (made, fixed, same)
    assert len(ours - theirs) == others
    assert every == 24 * most and made <= 0.6 * every
