"""Where the papers' published values contradict each other."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.extras.audit.audit_recipes import AuditRecipe
from pubmill.extras.audit.audit_stages import AuditStage, graph_of_all_tables
from pubmill.extras.audit.contradictions import Contradiction
from pubmill.extras.audit.value_audit import audit
from pubmill.recipes.reading import as_json, read
from pubmill.specs import Specs
from tests.unit.toy_studies import GraphOf


def test_a_model_of_one_s_own_changes_no_page(full_specs: Specs, graph_of: GraphOf) -> None:
    mine = full_specs.models["bert-base-uncased"].model_copy(update={"name": "my-bert"})
    specs = full_specs.model_copy(update={"models": full_specs.models | {"my-bert": mine}})
    recipes = [graph_of(one, tables=()).stage(AuditStage).recipe_of(None) for one in (specs, full_specs)]
    assert recipes[0] == recipes[1]


@pytest.fixture(scope="module")
def found(root: Path) -> dict[tuple[str, str], Contradiction]:
    recipe = graph_of_all_tables(root / "specs").stage(AuditStage).recipe_of(None)
    found = audit(recipe, root / "specs").contradictions
    return {(one.dataset, one.model): one for one in found}


def test_versions_of_a_paper_and_their_reason(found: dict[tuple[str, str], Contradiction]) -> None:
    one = found["gad", "PubMedBERT"]
    assert ("82.34", "gu2020 Tables 6, 7, 8, 9, 10") in one.sources
    assert ("83.96", "tinn2021 Tables 2, 8") in one.sources
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
    assert one.sources == (("71.6", "tinn2021 Table 5"), ("86.17", "tinn2021 Table 9"))
    assert "layer-wise decay" in one.reasons[0]


def test_other_settings_and_measures_contradict_nothing(found: dict[tuple[str, str], Contradiction]) -> None:
    """Relaxed scores, and questions without SQuAD, are other things."""
    assert ("mean", "PubMedBERT") not in found and ("bc2gm", "PubMedBERT") not in found
    assert not any(dataset == "bioasq-factoid" for dataset, _ in found)


def small(folder: Path, second: str) -> AuditRecipe:
    """One model on one dataset in two tables of a paper."""
    column = {"key": "bert", "label": "BERT", "model": "bert", "published": ["bert"], "standard": True}
    row = {
        "key": "d",
        "dataset": "d",
        "label": "D",
        "metric": "mrr",
        "published": "d",
        "printed": "mrr",
        "why": "x",
    }
    tables = []
    for number, value in enumerate(("84.52", second), 1):
        path = folder / f"tables/p/table{number}.published.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"column,row,metric,value,note\nbert,d,mrr,{value},\n")
        names = {"name": f"p/table{number}", "paper": "p", "number": number, "protocol": "p"}
        tables.append({**names, "columns": [column], "rows": [row | {"why": "x"}]})
    protocol = {"aggregate": "mean", "runs": {"default": 1}, "stated": ""}
    made = {"tables": tables, "models": {"bert": "BERT"}, "protocols": {"p": protocol}, "facts": []}
    return read(AuditRecipe, as_json(made | {"versions": {}}))


def test_contradictions_are_selected_by_table(tmp_path: Path) -> None:
    found = audit(small(tmp_path, "84.6"), tmp_path)
    assert found.of_tables(("p/table2",)).contradictions == found.contradictions != ()
    assert not found.of_tables(("p/table3",)).contradictions


@pytest.mark.parametrize(
    ("second", "found"),
    [("84.53", 0), ("84.5", 0), ("85", 0), ("84.54", 1), ("84", 1), ("84.58", 1), ("85.1", 1)],
)
def test_values_half_a_unit_apart_are_equal_within_rounding(tmp_path: Path, second: str, found: int) -> None:
    """84.525 is printed as 84.52 or 84.53; whole numbers are within half of 1 and half of 0.01 of 84.52."""
    assert len(audit(small(tmp_path, second), tmp_path).contradictions) == found


def test_remarks_of_a_table_on_another_are_reasons(tmp_path: Path) -> None:
    """On the dataset, or on any; those on values that agree are none."""
    made = small(tmp_path, "86.02")
    for remarks, reasons in (
        ({"d": "of d", "any": "of all"}, ("of d",)),
        ({"any": "of all"}, ("of all",)),
        ({"other": "of another"}, ("no reason is found in the paper",)),
    ):
        for name in ("p/table2", "p"):
            first = replace(made.tables[0], elsewhere={name: remarks})
            recipe = replace(made, tables=(first, *made.tables[1:]))
            assert audit(recipe, tmp_path).contradictions[0].reasons == reasons
