"""Replay of `next_models` on 240 small runs, against the same runs with fixed numbers of seeds.

`small_runs.jsonl` has their scores: six feed-forward taggers on windows of words (NCBI-disease, BC5-disease:
strict F1 of entities) or classifiers of averaged word vectors (GAD, PubMedQA: accuracy), trained for three or
six epochs on the real datasets (the entities on 1,500 sentences) with seeds 1 to 10. `small_runs.npz` has
what each sentence or example contributes: numbers of gold, predicted and correct mentions, or right answers.
Nothing is trained again here, so the processor that trained them does not matter.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pubmill.metrics.contributions import Array
from pubmill.statistics.document_evidence import document_states, jackknife_variances
from pubmill.statistics.resampling import holm
from pubmill.statistics.seed_stopping import next_models, pair_states

RUNS = Path(__file__).with_name("small_runs.jsonl")
ITEMS = RUNS.with_suffix(".npz")
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
    while batch := list(next_models(known, pair_states(known, most, items), most)):
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


@pytest.fixture(scope="module")
def rests(rows: dict[str, tuple[Scores, int]]) -> dict[str, dict[str, Array]]:
    """Dataset -> model -> scores [seeds, units] on all sentences or examples but one."""
    with np.load(ITEMS) as file:
        counts = {name: file[name].astype(float) for name in file}
    return {dataset: {model: rest(counts, dataset, model) for model in rows[dataset][0]} for dataset in rows}


def rest(counts: dict[str, Array], dataset: str, model: str) -> Array:
    """Scores on all units but one; those on all units are the recorded ones."""
    correct = counts[f"{dataset}/{model}/correct"]
    if f"{dataset}/gold" not in counts:
        shares: Array = (correct.sum(axis=1, keepdims=True) - correct) / (correct.shape[1] - 1)
        return shares
    whole = counts[f"{dataset}/gold"] + counts[f"{dataset}/{model}/predicted"]
    left = [one.sum(axis=1, keepdims=True) - one for one in (2 * correct, whole)]
    f1: Array = left[0] / left[1]
    return f1


def test_the_contributions_are_those_of_the_scores(
    rows: dict[str, tuple[Scores, int]], rests: dict[str, dict[str, Array]]
) -> None:
    for dataset, (scores, _) in rows.items():
        for model, known in scores.items():
            assert rests[dataset][model].mean(axis=1) == pytest.approx(known, abs=2e-4)


def by_t_tests_of_both(dataset: str, scores: Scores, others: dict[str, Array], most: int) -> Decided:
    """The pairs that t tests of all runs decide with the variances over seeds and units added, adjusted by
    Holm."""
    pairs = list(itertools.combinations(scores, 2))
    tests = []
    for a, b in pairs:
        gaps = np.array(scores[a][:most]) - np.array(scores[b][:most])
        of_units = jackknife_variances(others[a][:most] - others[b][:most])[-1]
        error = np.sqrt(of_units + gaps.var(ddof=1) / most)
        tests.append(float(gaps.mean() / error) if error else 0.0)
    adjusted = holm([float(2 * stats.t.sf(abs(t), most - 1)) for t in tests])
    return {(dataset, *pair, t > 0) for pair, t, p in zip(pairs, tests, adjusted, strict=True) if p <= 0.05}


def replayed_for_documents(
    dataset: str, scores: Scores, others: dict[str, Array], items: int, most: int
) -> tuple[int, Decided]:
    """Make the runs that may decide pairs on other documents; their number and the pairs that they decide."""
    made = dict.fromkeys(scores, 0)
    while True:
        known = {model: scores[model][: made[model]] for model in scores}
        rest = {model: others[model][: made[model]] for model in scores}
        states = document_states(known, rest, most, items)
        batch = list(next_models(known, states, most))
        if not batch:
            decided = {(dataset, one.first, one.second, one.difference > 0) for one in states if one.decided}
            return sum(made.values()), decided
        made |= {model: made[model] + 1 for model in batch}


@pytest.mark.parametrize(("most", "made", "fixed", "same"), [(5, 78, 18, 17), (10, 81, 19, 18)])
def test_fewer_runs_decide_nearly_the_same_pairs_on_other_documents(
    rows: dict[str, tuple[Scores, int]],
    rests: dict[str, dict[str, Array]],
    most: int,
    made: int,
    fixed: int,
    same: int,
) -> None:
    ours: Decided = set()
    theirs: Decided = set()
    runs = 0
    for dataset, (scores, items) in rows.items():
        number, decided = replayed_for_documents(dataset, scores, rests[dataset], items, most)
        runs, ours = runs + number, ours | decided
        theirs |= by_t_tests_of_both(dataset, scores, rests[dataset], most)
    assert (runs, len(theirs), len(ours & theirs)) == (made, fixed, same)
    assert ours <= theirs
