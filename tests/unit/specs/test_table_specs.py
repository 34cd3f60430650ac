"""Specs of tables: columns of one kind, own names, facts with what they need; references to other specs."""

from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.specs.fact_table_specs import FactTableSpec, faults_of_facts
from pubmill.specs.table_specs import ColumnSpec, RowSpec, TableSpec
from tests.unit.specs.toy_mistakes import wrong_references


def table(**changes: Any) -> TableSpec:
    values = {
        "name": "table01", "kind": "results", "paper": "p", "title": "T", "caption": "C", "protocol": "blurb",
        "setting": "standard",
        "columns": [{"model": "bert", "label": "B"}, {"model": "bert", "key": "small", "label": "S"}],
        "rows": [{"dataset": "bc2gm", "label": "B", "group": "ner"}],
    }  # fmt: skip
    return TableSpec.model_validate(values | changes)


def facts(**changes: Any) -> FactTableSpec:
    values = {
        "name": "table01", "kind": "facts", "paper": "p", "title": "T", "caption": "C",
        "subjects": "datasets",
        "rows": [{"subject": "bc2gm@x", "label": "B"}, {"subject": "gad", "label": "G", "missing": "later"}],
        "columns": [{"key": "n", "label": "N", "value": "count.train"}],
    }  # fmt: skip
    return FactTableSpec.model_validate(values | changes)


def column(value: str, **more: Any) -> dict[str, Any]:
    return {"key": "k", "label": "K", "value": value, **more}


def in_table(**values: Any) -> dict[str, Any]:
    """A change to a table: one column."""
    return {"columns": [{"label": "L", **values}]}


DROP = {"drop": {"start": "a", "of": ["b"]}}
COMPUTED = "remove `missing` and `setting`"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (in_table(key="x"), "exactly one"),
        (in_table(model="bert", key="x", best_of=["a", "b"]), "exactly one"),
        (in_table(missing="elsewhere"), "needs a `key`"),
        (in_table(best_of=["a", "b"]), "needs a `key`"),
        (in_table(key="x", best_of=["a"]), "best_of"),
        (in_table(key="x", best_of=["a", "b"], missing="why"), COMPUTED),
        (in_table(key="x", setting="s", **DROP), COMPUTED),
        (in_table(key="x", **DROP), "x names a, b, not columns with runs"),
        ({"columns": [{"model": "bert", "label": "B"}] * 2}, "duplicate columns: bert;"),
        ({"rows": [{"dataset": "gad", "label": "G", "group": "g"}] * 2}, "duplicate rows: gad;"),
        ({"composites": [{"name": "bc2gm", "label": "B", "groups": {}}]}, "duplicate rows: bc2gm;"),
        ({"composites": [{"name": "x", "label": "X", "groups": {"g": ["gad", "bc2gm"]}}]},
         "composite x names unknown rows: gad"),
        ({"hidden": ["bc2gm", "gad"]}, "hidden names unknown rows: gad"),
        ({"columns": [{"key": "m", "label": "M", "best_of": ["m", "none"]}]}, "m names m, none, not columns"),
        ({"metric": "f2"}, "there is no metric f2"),
    ],
)  # fmt: skip
def test_columns_are_one_thing_and_names_unique_and_known(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        table(**changes)


def test_a_column_is_called_by_its_key_or_model_and_text_stands_for_a_list() -> None:
    columns = [
        {"model": "bert", "label": "B", "setting": "standard", "published": "x"},
        {"key": "y", "label": "Y", "missing": "elsewhere"},
    ]
    first, second = table(columns=columns).columns
    assert (first.name, first.setting, first.published) == ("bert", ("standard",), ("x",))
    assert second.name == "y"


def test_the_metric_of_a_row_is_its_own_else_the_tables_else_the_datasets() -> None:
    data: Any = SimpleNamespace(metric="accuracy")
    row = RowSpec(dataset="bc2gm", label="B", group="g")
    own = row.model_copy(update={"metric": "relaxed_f1"})
    assert table(metric="entity_f1").metric_of(own, data) == "relaxed_f1"
    assert table(metric="entity_f1").metric_of(row, data) == "entity_f1"
    assert table().metric_of(row, data) == "accuracy" and table().metric_of(row, None) is None


def test_of_several_settings_the_first_that_fits_the_dataset_is_used() -> None:
    fits = {"a": False, "b": True, "c": True, "standard": True}
    settings = {name: SimpleNamespace(fits=lambda data, found=found: found) for name, found in fits.items()}
    protocol: Any = SimpleNamespace(settings=settings)
    for given, expected in (("b", "b"), (["none", "a", "c", "b"], "c"), ("a", None), (None, "standard")):
        one = ColumnSpec.model_validate({"model": "bert", "label": "B", "setting": given})
        row: Any = SimpleNamespace(setting=None, name="bc2gm")
        data: Any = None
        assert table().setting_of(one, row, protocol, data) == expected


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"rows": [{"subject": "gad", "label": "G"}] * 2}, "duplicate rows: gad"),
        ({"columns": [column("task")] * 2}, "duplicate columns: k"),
        ({"rows": [{"subject": "gad", "label": "G", "why": {"n": "x", "m": "y"}}]}, "unknown columns: m"),
        ({"baseline": {"subject": "none"}}, "baseline.subject names an unknown row: none"),
        ({"baseline": {"steps": 0}}, "baseline.steps"),
        ({"columns": [column("count.all")]}, "k: datasets have no fact 'count.all'; there are task"),
        ({"subjects": "models", "columns": [column("fit.train")]}, "fit.train needs the column's `dataset`"),
        ({"subjects": "models", "columns": [column("recipe.epochs", dataset="gad")]},
         "needs the table's `protocol` and the table's `setting`"),
        ({"subjects": "tasks", "columns": [column("choices")]}, "choices needs the table's `protocol`"),
        ({"subjects": "models", "protocol": "p", "setting": "s",
          "columns": [column("seconds_ratio", dataset="x")]},
         "seconds_ratio needs `baseline.subject`"),
        ({"subjects": "models", "baseline": {"steps": 3}, "columns": [column("compute_ratio")]},
         "needs `baseline.steps` and `baseline.batch_size`"),
    ],
)  # fmt: skip
def test_a_fact_table_that_is_not_whole_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault.replace(".", r"\.")):
        facts(**changes)


def test_facts_have_kinds_rows_have_printed_names_and_measures_have_datasets() -> None:
    made = facts(columns=[column("suites=blurb"), column("label_bias.dev", key="b")])
    assert [made.kind_of(one) for one in made.columns] == ["boolean", "ratio"]
    assert [one.fact for one in made.columns] == ["suites", "label_bias"]
    assert [row.printed for row in made.rows] == ["bc2gm", "gad"] and made.datasets == ("bc2gm@x", "gad")
    columns = [column("fit.test", dataset="jnlpba"), column("recipe.epochs", key="e", dataset="gad")]
    models = facts(subjects="models", protocol="p", setting="s", columns=columns)
    assert models.datasets == ("jnlpba",)


def test_the_specs_that_a_fact_table_names() -> None:
    columns = [column("fit.test", dataset="jnlpba"), column("steps", key="s")]
    made = facts(subjects="models", protocol="blurb", columns=columns)
    assert wrong_references(tables={"t": made}) == {
        ("protocol",): "there is no specs/protocols/blurb.yaml",
        ("columns", 0, "dataset"): "there is no specs/datasets/jnlpba.yaml",
        ("rows", 0, "subject"): "there is no specs/models/bc2gm@x.yaml",
    }
    assert wrong_references(tables={"t": made}, models={"gad": None})["rows", 1, "subject"] == (
        "specs/models/gad.yaml exists"
    )
    tasks = facts(subjects="tasks", protocol="blurb", columns=[column("choices")])
    assert wrong_references(tables={"t": tasks}).keys() == {("protocol",)}


def found(made: FactTableSpec, obstacle: str | None = None) -> list[tuple[Any, str]]:
    terms = {"bc2gm@x": "ner", "gad": "re"}
    datasets = {name: SimpleNamespace(task=task, domain="biomedical") for name, task in terms.items()}
    protocol = SimpleNamespace(
        obstacle=lambda data, model, setting: obstacle and f"{model}, {setting}: {obstacle}"
    )
    return list(faults_of_facts(made, {"protocols": {"blurb": protocol}, "datasets": datasets}))


def test_unknown_tasks_are_reported() -> None:
    rows = [{"subject": "ner", "label": "N"}, {"subject": "nothing", "label": "X"}]
    [(place, message)] = found(facts(subjects="tasks", rows=rows, columns=[column("kind")]))
    assert place == ("rows", 1, "subject") and message.startswith("there is no task nothing; there are ")


def test_impossible_runs_are_reported_at_their_column() -> None:
    columns = [column("steps", key="s"), column("recipe.epochs", dataset="gad")]
    made = facts(subjects="models", protocol="blurb", setting="standard", columns=columns)
    assert found(made) == []
    assert found(made, "too long") == [(("columns", 1, "dataset"), "bc2gm@x, standard: too long")]


def test_words_for_terms_that_no_cell_shows_are_reported() -> None:
    rows = [
        {"subject": "bc2gm@x", "label": "B", "words": {"ner": "NER", "re": "RE"}},
        {"subject": "gad", "label": "G"},
    ]
    words = {"ner": "N", "re": "R", "biomedical": "bio"}
    assert [place for place, _ in found(facts(rows=rows, words=words, columns=[column("task")]))] == [
        ("rows", 0, "words", "re"), ("words", "ner"), ("words", "biomedical"),
    ]  # fmt: skip
    both = facts(words={"biomedical": "bio"}, columns=[column("task"), column("domain", key="d")])
    assert found(both) == []
