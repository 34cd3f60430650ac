"""Ranks of models: by the published values of the five papers, of a made-up table, and by runs."""

from pathlib import Path

import numpy as np
import pytest

from pubmill.recipes.audits import AuditedColumn, AuditedRow, AuditedTable
from pubmill.recipes.tables import Composite
from pubmill.stages.study_graph import graph_of_all_tables
from pubmill.tables.cells import PublishedValue
from pubmill.tables.ranks import (
    FEW,
    MEAN,
    ONE_MODEL,
    Ranking,
    as_text,
    rankings_of,
    rankings_of_runs,
    weights_of_means,
)
from pubmill.tables.reproductions import cell_cv, reproductions, reproductions_as_text
from tests.unit import toy_tables as made_up
from tests.unit.tables.test_comparisons import made

SPECS = Path(__file__).parents[3] / "specs"
DATASETS = [f"d{number}" for number in range(8)]


@pytest.fixture(scope="module")
def table06() -> list[Ranking]:
    table = graph_of_all_tables(SPECS).audited_tables.table("gu2020/table06")
    return rankings_of(table, SPECS)[0]


def test_most_adjacent_ranks_of_gu2020_table_6_are_unresolved(table06: list[Ranking]) -> None:
    """An independent bootstrap gave 6 of 8 by the mean of the datasets, and p = .11 for the first pair."""
    mean, blurb = table06
    assert (mean.score, mean.unresolved, len(mean.adjacent)) == (MEAN, 6, 8)
    assert (mean.adjacent[0].upper, mean.adjacent[0].lower) == ("PubMedBERT uncased", "BioBERT cased")
    assert round(mean.adjacent[0].reversed, 2) == 0.11  # of 10,000 draws, the same on every processor
    assert mean.adjacent[0].improvement == pytest.approx(11 / 13)
    best, *_ = mean.tie_groups
    assert [one.model for one in best] == ["PubMedBERT uncased", "BioBERT cased"]
    assert (blurb.score, blurb.unresolved, blurb.datasets) == ("BLURB score", 7, 13)
    assert round(blurb.models[0].score, 2) == 81.10
    said = as_text(mean).split()
    assert (said.count("resolved"), said.count("unresolved") - 1) == (2, 6)  # and in the heading
    assert (mean.levels, blurb.models[0].interval) == (("13 datasets",), "1\N{EN DASH}3")


def test_the_same_values_give_the_same_ranks(table06: list[Ranking]) -> None:
    table = graph_of_all_tables(SPECS).audited_tables.table("gu2020/table06")
    assert rankings_of(table, SPECS)[0] == table06


def printed(folder: Path, lines: list[str], rows: list[AuditedRow], columns: str = "abc") -> AuditedTable:
    """A table of published values with columns of one letter each."""
    path = folder / "tables/p/table01.published.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["column,row,metric,value,note", *lines, ""]))
    models = [AuditedColumn(key=key, label=key.upper(), model=key, published=(key,)) for key in columns]
    drop = AuditedColumn(key="best", label="Best", published=("best",), combines=tuple(columns), by="best")
    return AuditedTable(
        name="p/table01", paper="p", number=1, protocol="p", columns=(*models, drop), rows=tuple(rows)
    )


def row(key: str, dataset: str, part: str = "") -> AuditedRow:
    return AuditedRow(key=key, dataset=dataset, label=key, metric="m", published=key, printed="m", part=part)


def lines(model: str, by: float, rows: list[str]) -> list[str]:
    return [f"{model},{name},m,{50 + by + number:.1f}," for number, name in enumerate(rows)]


def test_models_without_every_value_and_computed_columns_are_not_ranked(tmp_path: Path) -> None:
    rows = [row(name, name) for name in DATASETS]
    found, why = rankings_of(
        printed(
            tmp_path,
            [*lines("a", 0, DATASETS), *lines("b", 2, DATASETS), *lines("c", 9, DATASETS[1:]),
             *lines("best", 2, DATASETS)],
            rows,
        ),
        tmp_path,
    )  # fmt: skip
    assert why == "" and [one.model for one in found[0].models] == ["B", "A"]
    assert [(one.low, one.high, one.group) for one in found[0].models] == [(1, 1, 1), (2, 2, 2)]
    assert found[0].adjacent[0].improvement == 1 and found[0].unresolved == 0


def test_few_datasets_or_models_are_not_ranked(tmp_path: Path) -> None:
    few = DATASETS[:5]
    table = printed(tmp_path, [*lines("a", 0, few), *lines("b", 2, few)], [row(name, name) for name in few])
    assert rankings_of(table, tmp_path) == ([], FEW)
    table = printed(tmp_path, lines("a", 0, few), [row(name, name) for name in few])
    assert rankings_of(table, tmp_path) == ([], ONE_MODEL)


def test_datasets_are_resampled_and_not_rows(tmp_path: Path) -> None:
    """Two scores on each of six datasets are six datasets; precision beside F1 does not count."""
    rows, names = [], []
    for number in range(6):
        rows += [row(f"x{number}", f"d{number}"), row(f"y{number}", f"d{number}", "f1")]
        rows.append(row(f"p{number}", f"d{number}", "precision"))
        names += [f"x{number}", f"y{number}"]
    values = [*lines("a", 0, names), *lines("b", 1, names), *(f"a,p{number},m,99.0," for number in range(6))]
    [found], _ = rankings_of(printed(tmp_path, values, rows), tmp_path)
    assert found.datasets == 6 and [one.score for one in found.models] == pytest.approx([56.5, 55.5])


def test_weights_of_composites_and_of_the_plain_mean() -> None:
    rows = {"d1": ["x", "y"], "d2": ["z"]}
    groups = Composite(name="c", label="C", groups={"one": ("x", "y"), "two": ("z",)})
    found = weights_of_means([groups], rows)
    assert list(found) == ["C"] and list(found["C"]) == [0.5, 0.5]  # equal to the plain mean
    uneven = Composite(name="c", label="C", groups={"one": ("x",), "two": ("y", "z")})
    found = weights_of_means([uneven], rows)
    assert list(found) == [MEAN, "C"] and list(found["C"]) == [0.75, 0.25]
    unknown = Composite(name="c", label="C", groups={"one": ("x", "w")})
    assert list(weights_of_means([unknown], rows)) == [MEAN]


def audited(*models: str) -> AuditedTable:
    columns = tuple(AuditedColumn(key=one, label=one.title(), model=one) for one in models)
    rows = (row("bc2gm", "bc2gm"),)
    return AuditedTable(
        name="gu2020/table06", paper="gu2020", number=6, protocol="blurb", columns=columns, rows=rows
    )


def test_runs_are_resampled_by_documents_and_seeds(tmp_path: Path) -> None:
    """One dataset: no datasets are drawn, and the model far above the others is resolved."""
    table = made(tmp_path)
    [found], why = rankings_of_runs(audited("bert", "ours", "other"), table, tmp_path)
    assert (found.levels, why) == (("60 documents", "3 seeds of a model on a dataset"), "")
    assert [one.model for one in found.models] == ["Ours", "Other", "Bert"]
    assert [one.group for one in found.models] == [1, 2, 2]
    assert found.adjacent[0].improvement == 1 and found.adjacent[0].reversed == 0
    for one in found.models:
        cell = table.cells[one.model.lower()]["bc2gm"]
        assert one.score == pytest.approx(cell.value)
    assert rankings_of_runs(audited("bert", "ours", "other"), table, tmp_path) == ([found], "")
    text = as_text(found)
    assert "gu2020 Table 6, mean of the datasets" in text and "1 of 2 adjacent ranks unresolved" in text


def test_single_runs_have_no_seeds_to_draw(tmp_path: Path) -> None:
    [found], _ = rankings_of_runs(audited("bert", "ours", "other"), made(tmp_path, seeds=1), tmp_path)
    assert found.levels == ("60 documents",)
    empty = made_up.table(tmp_path, made_up.recipe(records={}))
    assert rankings_of_runs(audited("bert", "ours"), empty, tmp_path) == ([], ONE_MODEL)


def test_cv_of_a_table_stands_beside_its_verdicts(tmp_path: Path) -> None:
    for seed, path in enumerate(made_up.paths("bert", "bc2gm"), 1):
        assert path
        made_up.write(tmp_path, made_up.record("bert", "bc2gm", seed, 0.80 + seed / 100))
        made_up.write(tmp_path, made_up.record("ours", "bc2gm", seed, 0.9))
    table = made_up.table(tmp_path)
    [found] = reproductions(table)
    assert (found.model, found.cells, found.verdicts) == ("BERT", 1, {"not comparable": 1})
    cell = table.cells["bert"]["bc2gm"]
    assert cell.value == pytest.approx(81.5)
    gap, mean = 0.6, (81.5 + 80.9) / 2
    assert found.cv == pytest.approx(100 * 9 / 8 * np.sqrt(np.pi) / 2 * gap / mean)
    assert "1 not comparable" in reproductions_as_text([found])
    below = PublishedValue(value=-90.0, printed="-90.0", note="")
    assert cell_cv(cell.model_copy(update={"published": below})) is None
    assert cell_cv(table.cells["ours"]["bc2gm"]) is None
