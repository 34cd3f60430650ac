"""Where the papers' published values contradict each other."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.recipes.reading import as_json, read
from pubmill.recipes.tables import ContradictionsRecipe
from pubmill.report.contradictions import (
    CONTRADICTION_RENDERERS,
    NO_REASON,
    Contradiction,
    Contradictions,
    find_contradictions,
)
from pubmill.specs import Specs
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.tables.cells import read_as
from tests.unit.toy_studies import loaded


def real_recipe(root: Path, specs: Specs | None = None) -> ContradictionsRecipe:
    study = Study(study="x", title="", scale="full", tables=())
    made = checked_graph(study, specs or loaded(root / "specs", "full")).contradictions.recipe()
    return read(ContradictionsRecipe, as_json(made))


def test_a_model_of_one_s_own_changes_no_page(root: Path, full_specs: Specs) -> None:
    mine = full_specs.models["bert-base-uncased"].model_copy(update={"name": "my-bert"})
    specs = full_specs.model_copy(update={"models": full_specs.models | {"my-bert": mine}})
    assert real_recipe(root, specs) == real_recipe(root)


@pytest.fixture(scope="module")
def found(root: Path) -> dict[tuple[str, str], Contradiction]:
    found = find_contradictions(real_recipe(root), root / "specs").found
    return {(one.dataset, one.model): one for one in found}


def test_versions_of_a_paper_and_their_reason(found: dict[tuple[str, str], Contradiction]) -> None:
    one = found["gad", "PubMedBERT"]
    assert one.sources["82.34"] == "gu2020 Tables 6, 7, 8, 9, 10"
    assert one.sources["83.96"] == "tinn2021 Tables 2, 8"
    assert "gu2020's later journal version prints 83.96 for PubMedBERT, as tinn2021 does" in one.reasons


def test_forms_metrics_aggregates_and_copies(found: dict[tuple[str, str], Contradiction]) -> None:
    reasons = found["chemprot", "BioBERT"].reasons
    assert "forms of the dataset: chemprot@blurb, chemprot@blue" in reasons
    assert "metrics in print: micro F1, macro F1" in reasons and "over seeds: mean, median" in reasons
    assert "alrowili2021 Table 2: copied from Gu et al. 2021" in reasons
    metrics = "metrics of the tables here: entity F1, entity F1 of seqeval 0.0.12"
    assert metrics in found["jnlpba", "BioBERT"].reasons


def test_a_paper_against_itself(found: dict[tuple[str, str], Contradiction]) -> None:
    one = found["biosses", "PubMedELECTRA LARGE"]
    assert one.range == pytest.approx(14.57)
    assert one.sources == {"71.6": "tinn2021 Table 5", "86.17": "tinn2021 Table 9"}
    assert "layer-wise decay" in one.reasons[0]


def test_other_settings_and_measures_contradict_nothing(found: dict[tuple[str, str], Contradiction]) -> None:
    """Relaxed scores, and questions without SQuAD, are other things."""
    assert ("mean", "PubMedBERT") not in found and ("bc2gm", "PubMedBERT") not in found
    assert not any(dataset == "bioasq-factoid" for dataset, _ in found)


def small(folder: Path, second: str) -> ContradictionsRecipe:
    """One model on one dataset in two tables of a paper."""
    column = {"key": "bert", "label": "BERT", "model": "bert", "published": ["bert"]}
    row = {"key": "d", "dataset": "d", "label": "D", "metric": "mrr", "published": "d", "printed": "mrr"}
    tables = []
    for number, value in enumerate(("84.52", second), 1):
        (folder / f"{number}.csv").write_text(f"column,row,metric,value,note\nbert,d,mrr,{value},\n")
        names = {"name": f"p/table{number}", "paper": "p", "number": number, "file": f"{number}.csv"}
        rest = {"protocol": "p", "aggregate": "mean", "metric": None, "columns": [column], "rows": [row]}
        tables.append({**names, **rest, "composites": [], "left_out": {}, "elsewhere": {}})
    made = {"tables": tables, "models": {"bert": "B|<i>"}, "versions": {}}
    return read(ContradictionsRecipe, as_json(made))


def test_contradictions_are_escaped_read_again_and_selected_by_table(tmp_path: Path) -> None:
    found = find_contradictions(small(tmp_path, "84.6"), tmp_path)
    assert "B|&lt;i&gt;" in CONTRADICTION_RENDERERS["html"](found)
    (tmp_path / "found.json").write_text(CONTRADICTION_RENDERERS["json"](found))
    assert read_as(Contradictions, tmp_path / "found.json") == found == found.of_tables(["p/table2"])
    assert not found.of_tables(["p/table3"]).found


@pytest.mark.parametrize(
    ("second", "found"),
    [("84.53", 0), ("84.5", 0), ("85", 0), ("84.54", 1), ("84", 1), ("84.58", 1), ("85.1", 1)],
)
def test_values_half_a_unit_apart_are_equal_within_rounding(tmp_path: Path, second: str, found: int) -> None:
    """84.525 is printed as 84.52 or 84.53; whole numbers are within half of 1 and half of 0.01 of 84.52."""
    assert len(find_contradictions(small(tmp_path, second), tmp_path).found) == found


def test_remarks_of_a_table_on_another_are_reasons(tmp_path: Path) -> None:
    """On the dataset, or on any; those on values that agree are none."""
    made = small(tmp_path, "86.02")
    for remarks, reasons in (
        ({"d": "of d", "any": "of all"}, ("of d",)),
        ({"any": "of all"}, ("of all",)),
        ({"other": "of another"}, (NO_REASON,)),
    ):
        for name in ("p/table2", "p"):
            first = replace(made.tables[0], elsewhere={name: remarks})
            recipe = replace(made, tables=(first, *made.tables[1:]))
            assert find_contradictions(recipe, tmp_path).found[0].reasons == reasons
