"""What documents contribute: metrics of all kinds come of it exactly, resampled in one go or one by one."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.metrics import SCORERS, metrics_of
from pubmill.metrics.contributions import (
    Contributions,
    Items,
    contributions_read_by,
    read_items,
    units_of,
    write_items,
)
from pubmill.metrics.registry import measure_of
from pubmill.statistics.resampling import drawn_documents

LABEL = ["O", "B-x", "I-x", "B-y", "I-y", "B-z"]
ANSWERS = ["p53", "the p53", "Wnt", "IL-2 gene", ""]
KINDS = [*SCORERS, "span, grouped"]
NAMED = ("id", "document", "group")
COLUMNS = "a column of values for each name; score the run again"
DAMAGED = "is damaged: it does not agree with its SHA-256; score the run"


def example(kind: str, number: int, generator: np.random.Generator) -> Any:
    """A made-up example; two in a row are of one document."""
    common: dict[str, Any] = {"id": str(number), "document": f"d{number // 2}"}
    if kind == "tokens":
        labels = [LABEL[i] for i in generator.integers(len(LABEL), size=generator.integers(1, 9))]
        return kinds.TokensExample(**common, words=["w"] * len(labels), labels=labels)
    if kind == "sequence":
        return kinds.SequenceExample(**common, text="t", label=str(generator.integers(3)))
    if kind == "multilabel":
        labels = [label for label in "abc" if generator.random() < 0.5] or ["a"]
        return kinds.MultilabelExample(**common, text="t", labels=labels)
    if kind == "regression":
        return kinds.RegressionExample(
            **common, text="t", text_pair="u", score=float(generator.normal(50, 3))
        )
    if kind == "relations":
        entities = [kinds.Entity(start=0, end=1, type="C", id=name) for name in "uvw"]
        pairs = [["u", "v"], ["u", "w"], ["v", "w"]]
        return kinds.RelationsExample(
            **common, text="t", entities=entities, pairs=pairs, relations=_relations(pairs, generator)
        )
    if kind == "mentions":
        return kinds.MentionsExample(
            **common, words=["w"] * 3, mentions=[kinds.WordSpan(*one) for one in _spans(generator)]
        )
    text = ANSWERS[generator.integers(4)]
    group = f"q{number // 2}" if kind == "span, grouped" else None
    return kinds.SpanExample(
        **common, question="?", context=text, answers=[kinds.Answer(text=text, start=0)], group=group,
        golds=[text],
    )  # fmt: skip


def _relations(pairs: Sequence[Sequence[str]], generator: np.random.Generator) -> list[list[str]]:
    found = [[*pair, "rs"[generator.integers(2)], kinds.NOVELTY[generator.integers(2)]] for pair in pairs]
    return [one for one in found if generator.random() < 0.6]


def _spans(generator: np.random.Generator) -> list[tuple[int, int, str]]:
    places = [(first, after, kind) for first in range(3) for after in range(first + 1, 4) for kind in "xy"]
    return [place for place in places if generator.random() < 0.3]


def prediction(kind: str, gold: Any, generator: np.random.Generator) -> Any:
    if kind == "relations":
        return _relations(gold.pairs, generator)
    if kind == "mentions":
        return list(map(list, _spans(generator)))
    if kind == "tokens":
        return [LABEL[generator.integers(6)] if generator.random() < 0.4 else label for label in gold.labels]
    if kind == "sequence":
        return gold.label if generator.random() < 0.6 else str(generator.integers(4))
    if kind == "multilabel":
        return [label for label in "abcd" if generator.random() < 0.5]
    if kind == "regression":
        return float(0.01 * gold.score + generator.normal())
    first = gold.golds[0] if generator.random() < 0.4 else ANSWERS[generator.integers(5)]
    return [(first, 0.5 + 0.4 * float(generator.random())), (ANSWERS[generator.integers(5)], 0.3)]


def made_up(kind: str, seed: int, size: int = 12) -> tuple[list[Any], list[Any]]:
    generator = np.random.default_rng(seed)
    gold = [example(kind, number, generator) for number in range(size)]
    return gold, [prediction(kind, one, generator) for one in gold]


def drawn(gold: list[Any], predicted: list[Any], weights: list[int]) -> tuple[list[Any], list[Any]]:
    """The examples of each document as often as it was drawn, each time as a document of its own."""
    units = units_of(gold).numbers
    pairs = [
        (
            replace(one, **{key: f"{getattr(one, key)}-{n}" for key in NAMED if getattr(one, key, None)}),
            given_,
        )
        for unit, times in enumerate(weights)
        for n in range(times)
        for one, given_, of in zip(gold, predicted, units, strict=True)
        if of == unit
    ]
    return [one for one, _ in pairs], [given_ for _, given_ in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_s_metrics_come_exactly_of_its_file(kind: str, tmp_path: Path) -> None:
    name = kind.split(",")[0]
    gold, predicted = made_up(kind, 1, 60)
    found = SCORERS[name](gold, predicted, "0")
    write_items(tmp_path / "seed-1.items.npz", Items(name, "document", "ab", found.contributions))
    items = read_items(tmp_path / "seed-1.items.npz")
    assert items[:3] == (name, "document", "ab")
    assert items.contributions is not None
    assert len(items.contributions.values) == 30
    again = measure_of(name)(items.contributions.totals())
    assert {metric: float(value) for metric, value in again.items() if not np.isnan(value)} == found.metrics


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_resampling_in_one_go_equals_drawing_the_documents(kind: str, seed: int) -> None:
    name = kind.split(",")[0]
    gold, predicted = made_up(kind, seed)
    contributions = SCORERS[name](gold, predicted, "0").contributions
    weights = drawn_documents(6, 4, np.random.default_rng(seed))
    assert (weights.sum(axis=1) == 6).all()
    totals = dict(zip(contributions.names, (weights @ contributions.values).T, strict=True))
    metrics = measure_of(name)(totals)
    for row, times in enumerate(weights.astype(int).tolist()):
        naive = SCORERS[name](*drawn(gold, predicted, times), "0").metrics
        at_once = {metric: value[row] for metric, value in metrics.items() if not np.isnan(value[row])}
        assert at_once == pytest.approx(naive)


def test_documents_questions_and_examples() -> None:
    gold, _ = made_up("sequence", 1, 5)
    assert units_of(gold) == ("document", [0, 0, 1, 1, 2])
    assert units_of([replace(gold[0], document=None), *gold[1:]]) == ("example", [0, 1, 2, 2, 3])
    assert units_of([replace(one, document=None) for one in gold]) == ("example", [0, 1, 2, 3, 4])
    grouped, _ = made_up("span, grouped", 1, 4)
    moved = [replace(one, document="d0") for one in grouped]
    assert units_of(moved) == ("question", [0, 0, 1, 1])
    # a document is not taken for an example of its name
    named = [replace(gold[0], document=None, id="7"), replace(gold[1], document="7")]
    assert units_of(named).numbers == [0, 1]


def test_equal_contributions_give_equal_files_and_a_failed_run_has_none(tmp_path: Path) -> None:
    items = Items("tokens", "example", "ab", Contributions(("gold",), np.ones((3, 1))))
    for name in ("a", "b"):
        write_items(tmp_path / name, items)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    write_items(tmp_path / "a", items._replace(contributions=None))
    assert read_items(tmp_path / "a") == ("tokens", "example", "ab", None)


@pytest.mark.parametrize("kind", SCORERS)
def test_what_a_metric_does_not_look_at_is_not_contributions_read_by(kind: str) -> None:
    gold, predicted = made_up(kind, 2)
    whole = SCORERS[kind](gold, predicted, "0").contributions
    for metric in metrics_of(kind):
        part = contributions_read_by(metric.function, whole)
        np.testing.assert_equal(metric.function(part.totals()), metric.function(whole.totals()))


@pytest.mark.parametrize(("name", "value", "message"), [
    ("about", ["tokenx", "example", "ab"], DAMAGED), ("about", ["tokens", "examplx", "ab"], DAMAGED),
    ("about", ["tokens", "example", "ax"], DAMAGED), ("names", ["golf"], DAMAGED),
    ("values", np.full((3, 1), 2.0), DAMAGED), ("values", np.ones((3, 2)), COLUMNS),
    ("names", ["n", "m"], COLUMNS), ("values", np.ones((3, 1), dtype=np.float32), COLUMNS),
    ("values", np.ones((3, 1, 1)), COLUMNS), ("values", np.ones(3), COLUMNS),
])  # fmt: skip
def test_other_files_are_refused(tmp_path: Path, name: str, value: Any, message: str) -> None:
    path = tmp_path / "seed-1.items.npz"
    write_items(path, Items("tokens", "example", "ab", Contributions(("gold",), np.ones((3, 1)))))
    with np.load(path) as file:
        parts = dict(file)
    digest = parts["about"].tolist()[3:]
    np.savez_compressed(path, **{**parts, name: value + digest if name == "about" else value})
    with pytest.raises(PubmillError, match=message):
        read_items(path)
    path.write_bytes(b"no archive")
    with pytest.raises(PubmillError, match="score the run again"):
        read_items(path)
