"""Tables against the other specs: words, settings, metrics, columns and cells that do not fit them."""

from pathlib import Path

import pytest

from pubmill.specs import Specs
from pubmill.specs.table_checks import obstacles
from pubmill.specs.table_specs import TableSpec
from tests.unit.specs.toy_mistakes import mistakes, replace


def test_a_reason_for_missing_must_go_when_the_spec_has_come(folder: Path) -> None:
    replace(
        folder / "tables/gu2020/table06.yaml",
        'label: "BioBERT cased"',
        'label: "BioBERT cased", missing: not yet',
    )
    assert "remove `missing:`" in mistakes(folder)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("  accuracy: Accuracy\n", "  accuracy: Accuracy\n  mrr: MRR\n", "mrr"),
        ("label: GAD}", "label: GAD, words: {f1: Micro F1}}", "f1"),
        ("  pearson: Pearson\n", "  pearson: Pearson\n  biomedical: PubMed\n", "biomedical"),
    ],
)
def test_unused_words_are_reported(folder: Path, old: str, new: str, word: str) -> None:
    path = folder / "tables/gu2020/table03.yaml"
    replace(path, old, new)
    line = next(
        n for n, text in enumerate(path.read_text().splitlines(), 1) if f" {word}: " in text.replace("{", " ")
    )
    message = f"specs/tables/gu2020/table03.yaml:{line}: no cell shows the word '{word}'"
    assert message in mistakes(folder, "full")


def test_a_setting_that_the_protocol_lacks_is_reported(folder: Path) -> None:
    replace(folder / "tables/gu2020/table06.yaml", "setting: standard", "setting: standart")
    assert "protocol blurb has no setting 'standart'" in mistakes(folder)


def test_a_composite_of_unknown_rows_is_reported(folder: Path) -> None:
    replace(folder / "tables/gu2020/table06.yaml", "    sts: [biosses]", "    sts: [bioses]")
    assert "composite blurb names unknown rows: bioses" in mistakes(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "metric: relaxed_f1",
            "metric: relaxed_f2",
            "metric: there is no metric relaxed_f2; there are accuracy,",
        ),
        (
            "metric: relaxed_f1",
            "metric: word_macro_f1",
            "bc2gm (tokens, ner) has no word_macro_f1, the metric of the table; it has entity_f1",
        ),
        (
            "metric: relaxed_f1",
            "metric: mrr",
            "bc2gm (tokens, ner) has no mrr, the metric of the table; it has entity_f1",
        ),
        (
            "metric: relaxed_f1",
            "metric: subtoken_f1",
            "subtoken_f1 needs labelled_subwords: separate; protocol blurb, setting standard has "
            "labelled_subwords: first",
        ),
        (
            "metric: relaxed_f1",
            "metric: subtoken_f1",
            "subtoken_f1 needs labelled_subwords: separate; scispacy-jnlpba is not fine-tuned here",
        ),
    ],
)
def test_a_tables_metric_is_one_of_its_datasets(folder: Path, old: str, new: str, message: str) -> None:
    replace(folder / "tables/tinn2021/table11.yaml", old, new)
    assert message in mistakes(folder)


def test_the_metric_of_a_table_is_checked_on_folds_too(folder: Path) -> None:
    path = folder / "tables/tinn2021/table11.yaml"
    path.write_text(
        path.read_text().partition("rows:")[0]
        + "protocol: lewis2020\nrows: [{dataset: gad, label: GAD, group: re}]\ncomposites: []\n"
    )
    assert "gad (sequence, relation) has no relaxed_f1" in mistakes(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[scispacy-jnlpba, scispacy-bc5cdr]",
            "[scispacy-jnlpba, scispacy]",
            "names scispacy, not columns with runs",
        ),
        (
            "[scispacy-jnlpba, scispacy-bc5cdr]",
            "[scispacy-jnlpba, scispacy-max]",
            "names scispacy-max, not columns",
        ),
        ("[scispacy-jnlpba, scispacy-bc5cdr]", "[scispacy-jnlpba]", "columns.2.best_of"),
        ("best_of:", "missing: x, best_of:", "remove `missing` and `setting`"),
        ("key: scispacy-max", "key: biobert-base", "specs/models/biobert-base.yaml exists; give the column"),
    ],
)
def test_a_column_is_the_best_of_other_columns(folder: Path, old: str, new: str, message: str) -> None:
    replace(folder / "tables/tinn2021/table10.yaml", old, new)
    assert message in mistakes(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("biosses: &improved", "biossses: &improved", "has cells in unknown rows: biossses"),
        ("protocol: tinn2021", "protocol: tin2021", "there is no specs/protocols/tin2021.yaml"),
        ("protocol: tinn2021", "setting: optimal", "protocol blurb has no setting optimal"),
        ("protocol: tinn2021", "copied: gu2020\n        setting: standard", "keep `copied` and `why` only"),
        ("why: the printed value is", "# why: the printed value is", "a cell that differs needs `why`"),
    ],
)
def test_a_wrong_cell_of_a_table_is_reported(folder: Path, old: str, new: str, message: str) -> None:
    replace(folder / "tables/tinn2021/table02.yaml", old, new)
    found = mistakes(folder, "full")
    assert "specs/tables/tinn2021/table02.yaml:" in found and message in found


def test_a_row_without_a_dataset_needs_a_metric(full_specs: Specs) -> None:
    rows = [
        {"dataset": "gone", "label": "G", "group": "g", "missing": "later"},
        {"dataset": "gone", "key": "own", "label": "O", "group": "g", "missing": "later", "metric": "f1"},
        {"dataset": "gad@blurb", "label": "R", "group": "g"},
    ]
    values = {
        "name": "table01", "kind": "results", "paper": "p", "title": "T", "caption": "C", "protocol": "blurb",
        "setting": "standard", "columns": [{"model": "biobert-base", "label": "B"}], "rows": rows,
    }  # fmt: skip
    made = {kind: getattr(full_specs, kind) for kind in ("protocols", "models", "datasets")}
    found = list(obstacles(TableSpec.model_validate(values), made))
    assert found == [(("rows", 0), "gone has no dataset spec, so it needs a `metric`")]
    assert list(obstacles(TableSpec.model_validate(values | {"metric": "micro_f1"}), made)) == []
