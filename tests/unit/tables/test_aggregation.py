"""From records to cells: what is averaged, what is left empty, what is refused."""

import re
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record, write_record
from pubmill.recipes.tables import NOT_RUN, Composite
from pubmill.tables.aggregation import BEST, DROP, cell_of_columns, composite_cell
from pubmill.tables.cells import Cell, PublishedValue
from pubmill.tables.recorded_runs import UNLIKE
from tests.unit import toy_tables as made_up


def folds(**changes: Any) -> dict[str, Any]:
    """A recipe of one model and one row, whose runs are those of two folds."""
    names = ("gad@fold-2", "gad@fold-3")
    row = made_up.row("gad", "GAD", "re", "entity_f1", folds=names)
    paths = [path for name in names for path in made_up.paths("bert", name)]
    values = {
        "rows": [row], "columns": [made_up.column("bert", "BERT")], "records": {"bert": {"gad": paths}},
        "composites": [], "aggregate": "median",
    }  # fmt: skip
    return values | changes


def fold_record(number: int, seed: int, score: float, **changes: Any) -> Record:
    """The folds differ in their data, as folds do."""
    data = {"data_sha256": str(number) * 64, "trained_on_sha256": {"train": str(number) * 64}}
    return made_up.record("bert", f"gad@fold-{number}", seed, score, **data | changes)


OF_GAD = made_up.HEADER + "bert,gad,entity_f1,80.00,\n"


def test_a_cell_of_folds_is_the_median_of_all_their_runs(tmp_path: Path) -> None:
    scores = {(2, 1): 0.70, (2, 2): 0.80, (3, 1): 0.10, (3, 2): 0.90}
    made_up.write(tmp_path, *(fold_record(*key, score) for key, score in scores.items()))
    table = made_up.table(tmp_path, made_up.recipe(**folds()), OF_GAD)
    cell = table.cells["bert"]["gad"]
    assert cell.value == pytest.approx(75.0) and cell.difference == pytest.approx(-5.0)
    assert (cell.n, cell.expected, table.aggregate) == (4, 4, "median")
    assert [run.name for run in cell.seeds] == [
        f"gad@fold-{fold} {seed}" for fold in (2, 3) for seed in (1, 2)
    ]


@pytest.mark.parametrize(("changes", "message"), [
    ({"data_sha256": "f" * 64}, "one row; they differ in data hash"),
    ({"recipe": {"stop_after": 3}}, "one cell; they differ in recipe: stop_after None against 3"),
])  # fmt: skip
def test_runs_of_one_fold_share_their_data_and_those_of_all_folds_their_recipe(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    made_up.write(tmp_path, *(fold_record(number, 1, 0.8) for number in (2, 3)))
    made_up.write(tmp_path, fold_record(2, 2, 0.8, **changes))
    with pytest.raises(PubmillError, match=message):
        made_up.table(tmp_path, made_up.recipe(**folds()), OF_GAD)


def test_missing_cells_say_why(tmp_path: Path) -> None:
    reasons = {"gad": "no data", "ours": "no weights", "ours/bc2gm": "not trained yet"}
    cells = made_up.table(tmp_path, made_up.recipe(records={}, missing=reasons)).cells
    assert cells["bert"]["bc2gm"].missing == NOT_RUN
    assert cells["bert"]["gad"].missing == "no data"
    assert cells["ours"]["gad"].missing == "no weights"
    assert cells["ours"]["bc2gm"].missing == "not trained yet"


@pytest.mark.parametrize(("models", "changes", "message"), [
    ("ours", {"data_sha256": "e" * 64}, "one row; they differ in data hash"),
    ("ours", {"trained_on_sha256": {"train": "b" * 64}}, "one row; they differ in training data"),
    ("ours", {"versions": {"finetune": 2}}, "one row; they differ in versions: finetune 1 against 2"),
    ("ours", {"model_sha256": "f" * 64}, "one cell; they differ in model weights: None against f"),
    ("ours", {"recipe": {"epochs": 9}}, "one cell; they differ in recipe: epochs None against 9"),
    ("ours", {"metrics": {"accuracy": 0.9}}, "has no entity_f1"),
    ("genes drugs", {"split": "dev"}, "one row; they differ in split: test against dev"),
    ("genes drugs", {"versions": {"take_predictions": 1, "score": 2}}, "versions: score None against 2"),
    ("genes drugs", {"versions": {"take_predictions": 1, "metrics": [1, 2]}}, "versions: metrics None"),
    ("drugs", {"versions": {"take_predictions": 2}}, "versions: take_predictions 1 against 2"),
    ("drugs", {"data_sha256": "e" * 64}, "data hash"),
])  # fmt: skip
def test_records_that_were_made_otherwise_are_refused_and_named(
    tmp_path: Path, models: str, changes: dict[str, Any], message: str
) -> None:
    """Of a second seed, or of supplied predictions: also where all of the row agree with each other, and not
    with the fine-tuned models."""
    made_up.table_with_systems(tmp_path)
    for model in models.split():
        if model in made_up.SYSTEMS:
            made_up.write(tmp_path, made_up.system_record(model, **changes))
        else:
            made_up.write(tmp_path, made_up.record(model, "bc2gm", 2, 0.9, **changes))
    with pytest.raises(PubmillError, match=re.escape(message)) as error:
        made_up.table(tmp_path, made_up.recipe_with_systems())
    assert models.split()[0] in str(error.value)


@pytest.mark.parametrize(("model", "changes"), [
    ("ours", {"scale": "full"}), ("ours", {"setting": "other"}), ("ours", {"seed": 7}),
    ("genes", {"protocol": "blurb"}), ("genes", {"setting": "standard"}), ("genes", {"model": "other"}),
])  # fmt: skip
def test_a_record_in_the_wrong_place_is_refused(tmp_path: Path, model: str, changes: dict[str, Any]) -> None:
    made_up.table_with_systems(tmp_path)
    is_supplied = model in made_up.SYSTEMS
    path = tmp_path / (made_up.system_path(model) if is_supplied else made_up.paths(model, "bc2gm")[0])
    write_record(path, read_record(path).model_copy(update=changes))
    with pytest.raises(PubmillError, match=f"does not belong in this table: {next(iter(changes))} is"):
        made_up.table(tmp_path, made_up.recipe_with_systems())


def scored(value: float | None) -> Cell:
    missing = "x" if value is None else None
    return Cell(
        value=value, spread=None, n=0, expected=0, seeds=(), missing=missing, published=None, difference=None
    )


def test_an_incomplete_composite_has_no_score(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    cell = made_up.table(tmp_path).cells["bert"]["blurb"]
    assert (cell.value, cell.n, cell.expected) == (None, 1, 2)
    assert cell.missing and "not all of its 2 datasets" in cell.missing
    assert cell.published and cell.published.value == 79.31


def test_a_supplied_system_stands_beside_fine_tuned_models(tmp_path: Path) -> None:
    """It was trained on other data, or who knows on which, and by no stage of ours. The best of such
    systems is chosen in each row."""
    published = made_up.PUBLISHED + "best,bc2gm,entity_f1,61.50,\n"
    table = made_up.table_with_systems(tmp_path, published=published)
    cell, best = table.cells["genes"]["bc2gm"], table.cells["best"]["bc2gm"]
    assert (cell.value, cell.spread, cell.n, cell.expected) == (60.0, None, 1, 1)
    assert (best.value, best.spread, best.seeds, best.missing) == (60.0, None, (), None)
    assert best.difference == pytest.approx(-1.5)
    made = table.provenance
    assert (made.runs, made.seconds) == (4, 40.0)
    assert made.packages == {"lxml": ("6.1.3",), "torch": ("2.13.0",)}
    assert made.systems["genes"] == ("ner_genes 0.5.4, not fine-tuned here (https://example.org)",)
    recipe = made_up.recipe_with_systems()
    without = {model: paths for model, paths in recipe.records.items() if model != "drugs"}
    changes = {"records": without, "missing": recipe.missing | {"drugs": "needs predictions"}}
    cells = made_up.table(tmp_path, made_up.recipe_with_systems(**changes)).cells
    assert cells["drugs"]["bc2gm"].missing == "needs predictions"
    assert (cells["best"]["bc2gm"].value, cells["best"]["bc2gm"].n) == (None, 1)
    assert cells["best"]["gad"].missing == "no best: no score of Genes and Drugs"


def test_the_composite_of_the_best_is_of_its_own_cells() -> None:
    """Not the best of the composites: each of the two is the better one somewhere."""
    found = {"x": (10.0, 50.0), "y": (70.0, 20.0)}
    cells = {
        dataset: cell_of_columns(BEST, [("A", scored(a)), ("B", scored(b))], None)
        for dataset, (a, b) in found.items()
    }
    assert composite_cell(Composite(name="m", label="M", groups={"g": ("x", "y")}), cells, None).value == 60.0


def test_a_drop_is_from_one_column_to_the_worst_of_others() -> None:
    parts = [("whole", scored(90.0)), ("two", scored(88.0)), ("four", scored(89.0))]
    printed = PublishedValue(value=-2.5, printed="-2.50", note="")
    made = cell_of_columns(DROP, parts, printed)
    assert (made.value, made.difference, made.n, made.expected) == (-2.0, 0.5, 3, 3)
    made = cell_of_columns(DROP, [*parts, ("six", scored(None))], printed)
    assert (made.value, made.missing) == (None, "no drop: no score of six")


def test_a_printed_composite_that_its_parts_do_not_give_is_marked(tmp_path: Path) -> None:
    rounded, wrong = (made_up.PUBLISHED.replace("79.31", value) for value in ("79.32", "79.33"))
    for text, recomputed in ((rounded, None), (wrong, pytest.approx(79.31))):
        published = made_up.table(tmp_path, published=text).cells["bert"]["blurb"].published
        assert published and published.recomputed == recomputed


def test_blank_and_omitted_values_are_reported(tmp_path: Path) -> None:
    text = made_up.PUBLISHED + "ours,bc2gm,entity_f1,,printed as X; not reported\nbert,ratio,ratio,4x,\n"
    table = made_up.table(tmp_path, made_up.recipe(left_out={"ratio": "not a score"}), text)
    assert table.cells["ours"]["bc2gm"].published is None
    assert table.silences == (
        "No published value in 1 cell: not reported", "Not shown of the published table: ratio (not a score)",
    )  # fmt: skip


def test_records_found_on_disk_that_do_not_fit_their_row_are_left_out(tmp_path: Path) -> None:
    """The study made its own anew, from other data than when the others were looked at."""
    recipe = made_up.recipe(found=["ours/bc2gm"])
    for model in ("bert", "ours"):
        made_up.write(tmp_path, *(made_up.record(model, "bc2gm", seed, 0.5) for seed in (1, 2)))
    assert made_up.table(tmp_path, recipe) == made_up.table(tmp_path, made_up.recipe())
    made_up.write(
        tmp_path, *(made_up.record("ours", "bc2gm", seed, 0.5, data_sha256="e" * 64) for seed in (1, 2))
    )
    cells = made_up.table(tmp_path, recipe).cells
    assert cells["bert"]["bc2gm"].value == pytest.approx(50)
    assert cells["ours"]["bc2gm"].value is None and cells["ours"]["bc2gm"].missing == UNLIKE
    with pytest.raises(PubmillError, match="must not share one row"):
        made_up.table(tmp_path, made_up.recipe())
