"""Records as DataFrames: columns, types, what is missing."""

from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record
from pubmill.tables.cells import NO_RECORD
from pubmill.tables.recorded_runs import load_records, load_runs
from tests.unit import toy_tables as made_up


def test_all_records_below_a_folder_are_lines_with_the_fields_as_columns(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    beside = tmp_path / made_up.paths("bert", "bc2gm")[0]
    beside.with_suffix(".training.json").write_text("{}")
    records = load_records(tmp_path)
    assert list(records.columns) == list(Record.model_fields)
    expected = [path for model in ("bert", "ours") for path in made_up.paths(model, "bc2gm")]
    assert list(records.index) == expected
    means = records.groupby("model")["dev_score"].mean()
    assert means.to_dict() == pytest.approx({"bert": 0.81, "ours": 0.91})


def test_columns_keep_their_types_without_records_and_without_values(tmp_path: Path) -> None:
    made_up.write(tmp_path, made_up.system_record("genes"))
    for records in (load_records(tmp_path), load_records(tmp_path, [])):
        kinds = {"model": "str", "commit": "str", "seed": "int64", "max_length": "Int64", "recipe": "object"}
        kinds |= dict.fromkeys(("seconds", "dev_score"), "float64")
        assert {name: str(records[name].dtype) for name in kinds} == kinds
    lacking = load_records(tmp_path)[["dev_score", "max_length", "dev_split", "commit"]].isna()
    assert lacking.values.tolist() == [[True, True, True, False]]


def test_the_runs_of_a_table_are_all_that_its_cells_expect(tmp_path: Path) -> None:
    failed = made_up.record("ours", "bc2gm", 1, 0.9, metrics=None, counts=None, failed="nan")
    made_up.write(tmp_path, made_up.record("bert", "bc2gm", 1, 0.8), failed)
    runs = load_runs(made_up.recipe(), tmp_path)
    expected = [[model, "bc2gm", seed] for model in ("bert", "ours") for seed in (1, 2)]
    assert runs[["column", "row", "seed"]].values.tolist() == expected
    assert runs["recorded"].tolist() == [True, False, True, False]
    assert runs["score"].dropna().tolist() == [80.0]
    assert runs["failed"].fillna("").tolist() == ["", NO_RECORD, "nan", NO_RECORD]
    assert runs["seconds"].sum() == 20.0


def test_a_record_that_several_rows_show_is_scored_by_the_metric_of_each(tmp_path: Path) -> None:
    rows = [
        made_up.row("bc2gm", "BC2GM", "ner", "entity_f1"),
        made_up.row("bc2gm", "BC2GM", "ner", "precision", key="precision"),
    ]
    path = made_up.paths("bert", "bc2gm", 1)
    metrics = {"entity_f1": 0.8, "precision": 0.75}
    made_up.write(tmp_path, made_up.record("bert", "bc2gm", 1, 0.8, metrics=metrics))
    recipe = made_up.recipe(rows=rows, records={"bert": {"bc2gm": path, "precision": path}}, composites=[])
    runs = load_runs(recipe, tmp_path)
    assert dict(zip(runs["row"], runs["score"], strict=True)) == {"bc2gm": 80.0, "precision": 75.0}


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    made_up.write_all(tmp_path)
    path = tmp_path / made_up.paths("ours", "bc2gm")[1]
    path.write_text("{}")
    with pytest.raises(PubmillError, match="ours/bc2gm/standard/final/seed-2.json"):
        load_records(tmp_path)
