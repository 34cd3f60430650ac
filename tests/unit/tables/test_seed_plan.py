"""The next runs of a study, by its finished ones."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.errors import PubmillError
from pubmill.metrics.contributions import Contributions, Items, write_items
from pubmill.metrics.records import Record
from pubmill.tables.seed_plan import as_text, row_plans, seed_counts
from tests.unit import toy_tables as made_up

COUNTS = {"gold": 1000, "examples": 300}
MODELS = {"bert": 0.70, "ours": 0.90}


def planned(
    results: Path, made: dict[str, int], seeds: int = 5, for_documents: bool = False, **changes: Any
) -> Any:
    """The plan of bc2gm with so many finished runs of each model; scores hardly vary over seeds."""
    records = {model: {"bc2gm": made_up.paths(model, "bc2gm", seeds)} for model in MODELS}
    for model, number in made.items():
        for seed in range(1, number + 1):
            score = MODELS[model] + 0.001 * ((seed * len(model)) % 3)
            one = made_up.record(model, "bc2gm", seed, score, **{"counts": COUNTS} | changes)
            made_up.write(results, one)
            write_items(
                results / made_up.paths(model, "bc2gm", seed)[-1].replace(".json", ".items.npz"), put(one)
            )
    recipe = made_up.recipe(records=records)
    return row_plans(recipe, results, finished(results), for_documents)


def put(record: Record) -> Items:
    """Contributions of ten documents of ten mentions, of which a run finds its score, but of the first one
    all or none."""
    score = (record.metrics or {}).get("entity_f1", 0.0)
    gold, correct = np.full(10, 10.0), np.full(10, 10 * score)
    correct[0] = 0.0 if record.model == "ours" else 10.0
    values = np.array([gold, gold, correct]).T
    found = Contributions(("gold", "predicted", "correct"), values) if record.metrics else None
    return Items("tokens", "document", record.data_sha256, found)


def finished(results: Path) -> Callable[[str], bool]:
    """Whether a record is on disk."""
    return lambda path: (results / path).is_file()


def test_all_models_begin_with_the_same_first_seeds(tmp_path: Path) -> None:
    [plan] = planned(tmp_path, {"bert": 1})
    assert [Path(path).parts[2] + Path(path).stem for path in plan.batch] == ["bertseed-2", "oursseed-1"]
    assert (plan.made, plan.most) == (1, 10) and plan.pairs[0].open
    assert "next batch: 2 runs" in as_text([plan])


def test_a_clear_pair_needs_no_more_runs(tmp_path: Path) -> None:
    [plan] = planned(tmp_path, {"bert": 4, "ours": 4})
    assert plan.pairs[0].decided and plan.batch == ()
    assert "decided" in as_text([plan]) and "nothing more to run" in as_text([plan])
    assert "Ours > BERT" in as_text([plan])


def test_both_answers_stand_below_each_other(tmp_path: Path) -> None:
    """One document of ten speaks against the better model: seeds decide, documents may yet."""
    [plan] = planned(tmp_path, {"bert": 4, "ours": 4})
    [here], [elsewhere] = plan.pairs, plan.documents.pairs
    assert (plan.documents.unit, plan.documents.units) == ("document", 10)
    assert here.decided and not elsewhere.decided and elsewhere.difference == here.difference
    title, heading, line, below = as_text([plan]).splitlines()[:4]
    assert title == "gu2020/table06, BC2GM: 8 of 10 runs, 10 documents"
    assert heading.split()[-1] == "state" and line.split()[-1] == "decided"
    assert below.split() == ["on", "other", "documents", f"{elsewhere.p:.3f}", "not", "decidable"]
    assert "whether they would on other documents" in as_text([plan])


def test_runs_for_other_documents(tmp_path: Path) -> None:
    """The next runs are those of the question that is asked."""
    [plan] = planned(tmp_path, {"bert": 2, "ours": 2}, for_documents=True)
    assert plan.documents.pairs[0].open == bool(plan.batch)
    [first] = planned(tmp_path, {}, for_documents=True)
    assert first.batch == plan.batch
    [none] = planned(tmp_path / "new", {}, for_documents=True)
    assert none.documents is None and len(none.batch) == 2


def test_contributions_of_other_documents_are_an_error(tmp_path: Path) -> None:
    planned(tmp_path, {"bert": 2, "ours": 2})
    path = tmp_path / made_up.paths("ours", "bc2gm")[1].replace(".json", ".items.npz")
    found = Contributions(("gold", "predicted", "correct"), np.ones((3, 3)))
    write_items(path, Items("tokens", "document", "d" * 64, found))
    with pytest.raises(PubmillError, match="were scored on different examples"):
        planned(tmp_path, {})
    path.unlink()
    with pytest.raises(PubmillError, match="not a file of contributions"):
        planned(tmp_path, {})


def test_a_gap_in_the_seeds_is_made_first(tmp_path: Path) -> None:
    planned(tmp_path, {"bert": 3, "ours": 3})
    (tmp_path / made_up.paths("ours", "bc2gm")[1]).unlink()
    [plan] = planned(tmp_path, {})
    assert plan.made == 4
    assert plan.batch == (made_up.paths("ours", "bc2gm")[1],)


def test_a_failed_run_is_named_and_has_no_score(tmp_path: Path) -> None:
    [plan] = planned(tmp_path, {"bert": 2})
    planned(tmp_path, {"ours": 2}, failed="nan", metrics=None)
    [plan] = planned(tmp_path, {})
    assert plan.failed == ("Ours",) and plan.pairs == [] and plan.batch == ()
    assert "left out for a failed run: Ours" in as_text([plan])


def test_a_record_without_the_metric_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="seed 1, has no entity_f1; score it again"):
        planned(tmp_path, {"bert": 2}, metrics={"accuracy": 0.5})


def test_a_record_without_counts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="seed 1, has no number of scored examples; score it again"):
        planned(tmp_path, {"bert": 2}, counts={})


def test_rows_with_single_runs_have_no_plan(tmp_path: Path) -> None:
    assert planned(tmp_path, {"bert": 1}, seeds=1) == []


def counted(results: Path, **changes: Any) -> dict[str, int]:
    """The numbers of seeds to make of each model."""
    counts = seed_counts(made_up.recipe(**changes), results, finished(results))
    return {run[1]: count for run, count in counts.items()}


def test_a_run_makes_its_finished_seeds_and_those_of_the_next_batch(tmp_path: Path) -> None:
    records = {model: {"bc2gm": made_up.paths(model, "bc2gm", 5)} for model in MODELS}
    assert counted(tmp_path, records=records) == {"bert": 2, "ours": 2}
    planned(tmp_path, {"bert": 2, "ours": 2}, counts={"gold": 10})  # one of ten items: not decided by two
    assert counted(tmp_path, records=records) == {"bert": 3, "ours": 3}
    planned(tmp_path, {"bert": 4, "ours": 4})
    assert counted(tmp_path, records=records) == {"bert": 4, "ours": 4}


def test_a_record_of_other_recipes_is_made_again(tmp_path: Path) -> None:
    planned(tmp_path, {"bert": 4, "ours": 4})
    records = {model: {"bc2gm": made_up.paths(model, "bc2gm", 5)} for model in MODELS}
    recipe = made_up.recipe(records=records)
    assert set(seed_counts(recipe, tmp_path, lambda path: False).values()) == {2}


@pytest.mark.parametrize(
    "changes", [{"shown": False}, {"folds": ["a", "b"]}, {}], ids=["hidden", "folds", "alone"]
)
def test_rows_that_are_not_compared_get_all_seeds(tmp_path: Path, changes: dict[str, Any]) -> None:
    models = MODELS if changes else ["ours"]
    row = made_up.row("bc2gm", "BC2GM", "ner", "entity_f1", **changes)
    records = {model: {"bc2gm": made_up.paths(model, "bc2gm", 5)} for model in models}
    found = counted(tmp_path, records=records, rows=[row], composites=[], missing={})
    assert set(found.values()) == {5}
    assert set(
        counted(tmp_path, records={"ours": {"bc2gm": made_up.paths("ours", "bc2gm", 1)}}).values()
    ) == {1}


def test_before_the_first_run_one_line_says_how_many_are_next(tmp_path: Path) -> None:
    plans = planned(tmp_path, {})
    assert as_text(plans) == "no runs yet of 1 row; the first batch is 2 runs"
    assert as_text(plans * 2) == "no runs yet of 2 rows; the first batch is 2 runs"
    assert "no runs yet" not in as_text([*plans, *planned(tmp_path, {"bert": 1})])
    assert as_text([]) == "nothing more to run"


@pytest.mark.parametrize("documents", [1, 2])
def test_one_document_says_nothing_of_others(tmp_path: Path, documents: int) -> None:
    planned(tmp_path, {"bert": 2, "ours": 2})
    for model, score in MODELS.items():
        for path in made_up.paths(model, "bc2gm"):
            values = np.tile([10.0, 10.0, 10 * score], (documents, 1))
            found = Contributions(("gold", "predicted", "correct"), values)
            items = Items("tokens", "document", "d" * 64, found)
            write_items(tmp_path / path.replace(".json", ".items.npz"), items)
    [plan] = planned(tmp_path, {})
    text = as_text([plan])
    if documents == 1:
        assert plan.documents is None and "on other documents" not in text
        assert [line.split()[:3] for line in text.splitlines()[1:3]] == [
            ["pair", "difference", "p"], ["Ours", ">", "BERT"],
        ]  # fmt: skip
    else:
        assert plan.documents.units == 2 and text.count("on other documents") == 2
