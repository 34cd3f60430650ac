"""The verifier's own computations give what pubmill's give: metrics, counts, tests, distributions, cells."""

import json
import zlib
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest
from pydantic_core import to_jsonable_python
from scipy import special

from pubmill.extras.proof.basis import without_others
from pubmill.extras.proof.verifier import equivalence, items, metrics, resampling
from pubmill.extras.proof.verifier.cells import NO_RECORD, Builder, check_cells, read_published
from pubmill.extras.proof.verifier.container import RefusedError
from pubmill.extras.proof.verifier.forms import check_form, same
from pubmill.extras.proof.verifier.structure import RECIPE
from pubmill.metrics import METRICS, SCORERS
from pubmill.metrics.contributions import Contributions
from pubmill.metrics.registry import metrics_of
from pubmill.statistics import equivalence as study_equivalence
from pubmill.statistics import resampling as study_resampling
from pubmill.tables.cells import Table
from tests.full_tables import SPECS
from tests.unit.extras.proof import toy_proof as toy
from tests.unit.tables.test_full_tables import STORIES, TABLES, Records, recipe, records_of, table

KINDS = {"tokens": 11, "sequence": 12, "multilabel": 13, "regression": 14, "span": 15}


def scored(kind: str, seed: int) -> tuple[list[Any], list[Any], Any]:
    """Return random examples, predictions and their scores by pubmill."""
    draw = Random(seed)
    gold = [toy.example(kind, number, draw) for number in range(20)]
    skill = draw.random()
    found = [toy.prediction(one, skill, draw) for one in gold]
    return gold, found, SCORERS[kind](gold, found, "none" if kind == "sequence" else None)


def columns(made: Contributions) -> dict[str, Any]:
    return {name: made.values[:, [place]] for place, name in enumerate(made.names)}


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_from_totals(kind: str) -> None:
    """Every registered metric, on the test set and on resamplings in which some totals are 0."""
    known = {name for one in metrics_of(kind) for name in (one.name, *one.parts)}
    assert known == {*metrics.metrics_of_kind(kind)}
    for seed in range(20):
        made = scored(kind, seed)[2]
        dice = np.random.default_rng(seed)
        weights = dice.integers(0, 2, (30, len(made.contributions.values))).astype(float)
        weights[0], weights[1] = 1, 0
        totals = made.contributions.totals(weights)
        for one in metrics_of(kind):
            for name, function in {one.name: one.function, **one.parts}.items():
                np.testing.assert_allclose(metrics.METRICS[name](totals), function(totals), rtol=1e-12)


def test_every_metric_of_tables_names_the_counts_that_it_needs() -> None:
    for name in METRICS:
        assert metrics.KEPT[name], name
    assert metrics.columns_read("micro_f1", ["negative:gold:N", "class:gold:b", "class:gold:a"]) == [2, 1]


@pytest.mark.parametrize(
    ("kind", "subwords"), [*((kind, True) for kind in KINDS if kind != "span"), ("tokens", False)]
)
def test_counts_from_items(kind: str, subwords: bool) -> None:
    for seed in range(20):
        gold, found, made = scored(kind, seed)
        if not subwords:
            found = [list(labels) for labels in found]
            made = SCORERS[kind](gold, found, None)
        lines = [toy.as_line(*both) for both in zip(gold, found, strict=True)]
        known = [{"layers": {}, **{n: getattr(one, n) for n in one.__slots__}, "id": one.id} for one in gold]
        true = [{**item, "document": one.document} for item, one in zip(known, gold, strict=True)]
        names = sorted(made.contributions.names)
        negative = "none" if kind == "sequence" else None
        counted = items.counts_by_unit(kind, true, lines, negative, names)
        places = [made.contributions.names.index(name) for name in names]
        np.testing.assert_allclose(counted, made.contributions.values[:, places], rtol=1e-12, atol=1e-15)


def test_a_class_that_the_counts_lack_is_refused() -> None:
    gold, found, made = scored("sequence", 1)
    lines = [toy.as_line(*both) for both in zip(gold, found, strict=True)]
    true = [{"id": one.id, "document": one.document, "label": one.label} for one in gold]
    names = [name for name in made.contributions.names if not name.endswith(":up")]
    with pytest.raises(RefusedError, match="class:gold:up"):
        items.counts_by_unit("sequence", true, lines, "none", names)


@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize(
    ("kind", "metric"), [("tokens", "entity_f1"), ("sequence", "macro_f1"), ("regression", "pearson")]
)
def test_resampled_tests_are_exactly_those_of_the_study(kind: str, metric: str, aggregate: Any) -> None:
    """Two folds, models with different numbers of runs, the same generator."""
    runs = [
        [
            [scored(kind, 100 * fold + 10 * m + seed)[2].contributions for seed in range(2 + m)]
            for m in range(3)
        ]
        for fold in (0, 1)
    ]
    theirs = [study_resampling.fold(one) for one in runs]
    ours = [
        resampling.Fold([*f.names], f.values[:, np.argsort(f.names)], f.models)._replace(
            names=sorted(f.names)
        )
        for f in theirs
    ]
    kept = [metrics.columns_read(metric, one.names) for one in ours]
    ours = [
        one._replace(names=[one.names[p] for p in places], values=np.ascontiguousarray(one.values[:, places]))
        for one, places in zip(ours, kept, strict=True)
    ]
    seed = zlib.crc32(b"gu2020/table06/x")
    function = METRICS[metric].function
    scores = study_resampling.observed(theirs, function, aggregate)
    best = int(np.argmax(scores))
    found = study_resampling.compare(theirs, function, aggregate, best, np.random.default_rng(seed))
    own_scores, own = resampling.tested(ours, metric, aggregate, seed)
    np.testing.assert_allclose(own_scores, scores, rtol=1e-12)
    assert [one.other for one in own] == list(found)
    for one in own:
        same(list(one[1:]), json.loads(json.dumps(found[one.other])), "test")
    adjusted = resampling.holm_adjusted([one.bootstrap_p for one in own])
    assert adjusted == study_resampling.holm([one.bootstrap_p for one in found.values()])


def test_single_precision_gives_the_same_totals() -> None:
    values = np.random.default_rng(1).integers(0, 200, (500, 3, 4))
    weights = np.random.default_rng(2).integers(0, 5, (7, 500))
    exact = resampling.weighted(weights, values.astype(float))
    assert (resampling.weighted(weights, values.astype(np.float32)) == exact).all()


def test_distributions_are_those_of_scipy() -> None:
    dice = np.random.default_rng(1)
    for freedom in (1.0, 2.0, 4.0, 7.3, 29.0, 480.5):
        for t in dice.normal(0, 4, 20):
            assert equivalence.t_below(freedom, t) == pytest.approx(special.stdtr(freedom, t), rel=1e-9)
        for shift in dice.uniform(0, 6, 10):
            own = equivalence.power_of(shift, freedom, 0.05)
            assert own == pytest.approx(study_equivalence._power(shift, freedom, 0.05), abs=1e-10)
        found = equivalence.detectable_shift(freedom, 0.05, 0.8)
        assert found == pytest.approx(study_equivalence._noncentrality(freedom, 0.05, 0.8), rel=1e-8)
    for spread in (0.0, 0.02, 0.4, 1.7):
        seeds = equivalence.seeds_for_half_a_point(spread, 0.05, 0.8)
        assert seeds == study_equivalence.seeds_needed(spread, 0.5, 0.05, 0.8)


def builder(name: str, records: Records, made: Table) -> Builder:
    """Return the verifier's builder of a table at full scale."""
    found = {path: to_jsonable_python(one) for path, one in records.items()}

    def score(path: str, metric: str) -> tuple[float | None, str | None, bool]:
        one = found.get(path)
        failed = NO_RECORD if one is None else one["failed"]
        if one is None or failed:
            return None, failed, False
        return 100 * one["metrics"][metric], None, one["collapsed"]

    def build(name: str, part: Any, cells: Any, others: Mapping[str, Builder]) -> Builder:
        own = without_others(part)
        check_form(own, RECIPE, name)
        content = (SPECS / f"tables/{name}.published.csv").read_bytes()
        return Builder(own, read_published(content, own["left_out"], name), score, cells, others)

    others = {other: build(other, part, {}, {}) for other, part in recipe(name).others.items()}
    return build(name, recipe(name), to_jsonable_python(made.cells), others)


@pytest.mark.parametrize("name", TABLES)
def test_cells_and_verdicts_of_every_table(name: str) -> None:
    """All 29 tables of results at full scale, each by one story of how far ours is from published; the last
    cell lacks a run."""
    story = list(STORIES.values())[TABLES.index(name) % len(STORIES)]
    records = records_of(name, story)
    records.pop(sorted(records)[-1])
    first = sorted(records)[0]
    records[first] = records[first].model_copy(update={"collapsed": True})
    made = table(name, records)
    own = builder(name, records, made)
    shown = to_jsonable_python(made)
    assert check_cells(own, shown["cells"], name) == sum(map(len, shown["cells"].values()))
    same(own.seeds_needed(), shown["seeds_needed"], name)
