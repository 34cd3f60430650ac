"""The counts and runs that published values are audited by, and where values contradict each other."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit import printed_values_of_runs
from pubmill.extras.audit.audit_recipes import AuditRecipe, ScoreCounts
from pubmill.extras.audit.audit_stages import AuditStage, graph_of_all_tables, score_counts
from pubmill.extras.audit.contradictions import Contradiction
from pubmill.extras.audit.printed_values_of_runs import (
    DIFFERENT,
    EQUAL,
    RunsFinding,
    as_text,
    check_reasons,
    findings_on_runs,
)
from pubmill.extras.audit.value_audit import audit
from pubmill.recipes.reading import as_json, read
from pubmill.specs import Specs
from pubmill.stages import Graph
from tests.conftest import ROOT
from tests.unit.toy_studies import GraphOf


@pytest.mark.parametrize(
    ("dataset", "metric", "counts"),
    [
        ("bioasq-yesno", "accuracy", ScoreCounts(kind="share", sizes=(140,))),
        ("bioasq-factoid@7b-biobert", "mrr", ScoreCounts(kind="reciprocal_rank", sizes=(162,))),
        ("ncbi-disease", "entity_f1", ScoreCounts(kind="f1", sizes=(960,))),
        ("ncbi-disease", "entity_recall", ScoreCounts(kind="share", sizes=(960,))),
        ("gad@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(281,), wrong=253)),
        ("chemprot@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(3430,), wrong=15_745)),
        ("chemprot@blurb", "micro_recall", ScoreCounts(kind="share", sizes=(3430,))),
        ("hoc@blurb", "micro_f1", ScoreCounts(kind="f1", sizes=(484,), wrong=3226)),
        ("ebm-pico", "word_macro_f1", ScoreCounts(kind="mean_f1", sizes=(4711, 3563, 8090))),
        ("biosses", "pearson", ScoreCounts(kind="correlation")),
        ("i2b2-2010", "entity_f1", "the spec of i2b2-2010 has no number of mentions of the scored split"),
        ("i2b2-2010-re", "micro_f1", "the spec of i2b2-2010-re has no number of labels of the scored split"),
        (
            "bc5-chem",
            "word_macro_f1",
            "the spec of bc5-chem has no number of labelled words of the scored split",
        ),
    ],
)
def test_counts_of_a_score(full_specs: Specs, dataset: str, metric: str, counts: ScoreCounts | str) -> None:
    assert score_counts(full_specs.datasets[dataset], metric, full_specs.protocols["blurb"]) == counts


def test_a_score_without_a_test_has_a_reason(full_specs: Specs) -> None:
    found = score_counts(full_specs.datasets["hoc@blue"], "example_f1", full_specs.protocols["lewis2020"])
    assert isinstance(found, str) and "over documents" in found
    assert (
        score_counts(full_specs.datasets["biosses"], "rare", full_specs.protocols["blurb"])
        == "no test for rare"
    )


def test_the_audit_belongs_to_comparable_studies_with_tables_of_results(
    full_specs: Specs, demo_specs: Specs, graph_of: GraphOf
) -> None:
    for specs, table, count in (
        (full_specs, "table06", 2),
        (full_specs, "table03", 0),
        (demo_specs, "table06", 0),
    ):
        graph = graph_of(specs, tables=(f"gu2020/{table}",))
        page = graph.paths.at("pages/audit")
        assert len([path for path in graph.scope.everything() if path.startswith(page)]) == count
        assert (f"{page}.json" in graph.report.inputs()) is bool(count)
        assert graph.report.recipe().sections == ("audit",) * bool(count)


@pytest.fixture(scope="module")
def recipe(full_graph: Graph) -> AuditRecipe:
    return full_graph.stage(AuditStage).recipe_of(None)


def test_runs_are_those_that_the_protocol_states(recipe: AuditRecipe) -> None:
    """lewis2020 has 5 runs of each of 9 folds of GAD and EU-ADR; shin2020 states no number."""
    runs = {name: one.runs for name, one in recipe.protocols.items()}
    assert runs["lewis2020"] == {"default": 5, "gad": 45, "eu-adr": 45}
    assert runs["blurb"] == {"default": 5, "biosses": 10, "pubmedqa": 10, "bioasq-yesno": 10}
    stated = {name: (one.stated, one.unstated) for name, one in recipe.protocols.items()}
    assert stated["blurb"] == ("6.2", ()) and recipe.protocols["lewis2020"].aggregate == "median"
    assert all(stated[name][0] for name in ("alrowili2021", "tinn2021"))
    assert {stated[name] for name in ("beyond", "blurb-2026", "shin2020", "sounack2025")} == {("", ())}
    assert stated["lewis2020"] == ("5.2", ("gad", "eu-adr"))


def test_facts_of_a_text_are_not_audited(recipe: AuditRecipe) -> None:
    assert "gu2020/table05" in recipe.facts and "lewis2020/section3" not in recipe.facts


@pytest.mark.parametrize(
    ("kind", "expected", "counts"),
    [
        ("sequence", {"labels.no": 7, "labels.a": 2, "labels.b": 1, "examples": 10}, ((3,), 10)),
        ("sequence", {"labels.no": 7, "labels.a": 3, "examples": 10}, ((3,), 7)),
        ("multilabel", {"labels.a": 2, "labels.b": 1, "examples": 10}, ((3,), 17)),
        ("sequence", {"labels.no": 7, "examples": 10}, None),
        ("sequence", {"labels.a": 3}, None),
    ],
)
def test_wrong_predictions_are_bounded_by_the_examples(
    full_specs: Specs, kind: str, expected: dict[str, int], counts: tuple[tuple[int, ...], int] | None
) -> None:
    """With one positive label, every other example may be wrong; with several, every example; with any number
    of labels each, every label of every document."""
    changes = {"kind": kind, "expect": {"test": expected}, "negative": None if kind == "multilabel" else "no"}
    data = full_specs.datasets["gad@blurb"].model_copy(update=changes)
    found = score_counts(data, "micro_f1", full_specs.protocols["blurb"])
    known = (found.sizes, found.wrong) if isinstance(found, ScoreCounts) else None
    assert known == counts


def test_without_counts_of_the_scored_split_a_score_has_none(full_specs: Specs) -> None:
    data = full_specs.datasets["bioasq-yesno"].model_copy(update={"expect": {"train": {"examples": 5}}})
    found = score_counts(data, "accuracy", full_specs.protocols["blurb"])
    assert found == "the spec of bioasq-yesno has no number of examples of the scored split"


SPECS = ROOT / "specs"


@pytest.fixture(scope="module")
def found(full_graph: Graph) -> list[RunsFinding]:
    return findings_on_runs(full_graph, SPECS)


def with_gu2020_protocol(specs: Specs, graph_of: GraphOf, table: str, column: str) -> list[RunsFinding]:
    """Return the findings with a column of a table read as gu2020's fine-tuning."""
    spec = specs.tables[table]
    changed = spec.model_copy(
        update={
            "columns": tuple(
                one.model_copy(update={"protocol": "blurb"}) if one.name == column else one
                for one in spec.columns
            )
        }
    )
    own = specs.model_copy(update={"tables": {**specs.tables, table: changed}})
    return findings_on_runs(graph_of(own), SPECS)


def lacking(found: list[RunsFinding]) -> set[tuple[str, ...]]:
    return {(one.kind, *one.subject) for one in found if not one.why}


def test_every_finding_on_the_papers_tables_has_a_reason(found: list[RunsFinding], full_specs: Specs) -> None:
    assert {one.kind for one in found} == {EQUAL, DIFFERENT}
    check_reasons(found, full_specs)


def test_a_search_that_contains_the_other_explains_equal_values(found: list[RunsFinding]) -> None:
    """tinn2021 Table 9: seven optimal values of PubMedBERT LARGE are the standard ones."""
    [one] = [one for one in found if one.subject == ("pubmedbert-large", "bc2gm", "entity_f1")]
    assert {value.text for value in one.values} == {"84.72"} and one.kind == EQUAL
    assert one.why[0].startswith("the search of tinn2021/pubmedbert-large/bc2gm/extensive-search contains")
    assert "84.72  tinn2021/table06 pubmedbert-large: tinn2021/pubmedbert-large/bc2gm/standard" in as_text(
        [one]
    )


def test_equal_values_of_another_search_are_found(full_specs: Specs, graph_of: GraphOf) -> None:
    """Table 9's standard as gu2020's fine-tuning, although its values are those of Table 6, and the mean of
    its questions that of Table 5."""
    found = with_gu2020_protocol(full_specs, graph_of, "tinn2021/table09", "pubmedbert-large")
    datasets = {subject[2] for subject in lacking(found) if subject[1] == "pubmedbert-large"}
    assert {"bc5-chem", "ddi@blurb", "hoc@blurb", "mean of"} <= datasets


def test_different_values_of_one_search_are_found(full_specs: Specs, graph_of: GraphOf) -> None:
    """Table 8's PubMedELECTRA as gu2020's fine-tuning, although 10 values are not Table 2's; without the
    remark of Table 2 they have no reason."""
    found = with_gu2020_protocol(full_specs, graph_of, "tinn2021/table08", "pubmedelectra-base")
    differ = [one for one in found if one.kind == DIFFERENT and one.subject[0] == "pubmedelectra-base"]
    assert len(differ) == 11  # ten datasets, and the mean of the questions
    assert all("Table 8 prints other values" in one.why[0] for one in differ[:1])


def test_a_missing_and_a_needless_reason_are_errors(
    full_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks = {"bc5-chem": "x", "ddi@blurb": "x"}
    monkeypatch.setitem(printed_values_of_runs.COINCIDENCES, "gu2020/table10", remarks)
    with pytest.raises(PubmillError) as error:
        check_reasons(findings_on_runs(full_graph, SPECS), full_graph.specs)
    for fault in (
        "no reason for pubmedbert-base, jnlpba, entity_f1",
        "gu2020/table10: ddi@blurb: COINCIDENCES",
    ):
        assert fault in str(error.value)


def test_values_that_are_not_judged_are_left_out(found: list[RunsFinding]) -> None:
    """BIOSSES of standard fine-tuning in Table 9 is not comparable; Table 5 prints another value."""
    places = {(one.table, one.column, row) for finding in found for one in finding.values for row in one.rows}
    assert ("tinn2021/table09", "pubmedbert-large", "biosses") not in places
    assert ("tinn2021/table09", "pubmedbert-large.optimal", "biosses") in places


def test_a_model_of_one_s_own_changes_no_page(full_specs: Specs, graph_of: GraphOf) -> None:
    mine = full_specs.models["bert-base-uncased"].model_copy(update={"name": "my-bert"})
    specs = full_specs.model_copy(update={"models": full_specs.models | {"my-bert": mine}})
    recipes = [graph_of(one, tables=()).stage(AuditStage).recipe_of(None) for one in (specs, full_specs)]
    assert recipes[0] == recipes[1]


@pytest.fixture(scope="module")
def contradicted(root: Path) -> dict[tuple[str, str], Contradiction]:
    recipe = graph_of_all_tables(root / "specs").stage(AuditStage).recipe_of(None)
    found = audit(recipe, root / "specs").contradictions
    return {(one.dataset, one.model): one for one in found}


def test_versions_of_a_paper_and_their_reason(contradicted: dict[tuple[str, str], Contradiction]) -> None:
    one = contradicted["gad", "PubMedBERT"]
    assert ("82.34", "gu2020 Tables 6, 7, 8, 9, 10") in one.sources
    assert ("83.96", "tinn2021 Tables 2, 8") in one.sources
    assert "gu2020's later journal version prints 83.96 for PubMedBERT, as tinn2021 does" in one.reasons


def test_forms_metrics_aggregates_and_copies(contradicted: dict[tuple[str, str], Contradiction]) -> None:
    reasons = contradicted["chemprot", "BioBERT"].reasons
    assert "forms of the dataset: chemprot@blurb, chemprot@blue" in reasons
    assert "metrics in print: micro F1, macro F1" in reasons and "over seeds: mean, median" in reasons
    assert "alrowili2021 Table 2: copied from Gu et al. 2021" in reasons
    metrics = "metrics of the tables here: entity F1, entity F1 of seqeval 0.0.12"
    assert metrics in contradicted["jnlpba", "BioBERT"].reasons


def test_a_paper_against_itself(contradicted: dict[tuple[str, str], Contradiction]) -> None:
    one = contradicted["biosses", "PubMedELECTRA LARGE"]
    assert one.range == pytest.approx(14.57)
    assert one.sources == (("71.6", "tinn2021 Table 5"), ("86.17", "tinn2021 Table 9"))
    assert "layer-wise decay" in one.reasons[0]


def test_other_settings_and_measures_contradict_nothing(
    contradicted: dict[tuple[str, str], Contradiction],
) -> None:
    """Relaxed scores, and questions without SQuAD, are other things."""
    assert ("mean", "PubMedBERT") not in contradicted and ("bc2gm", "PubMedBERT") not in contradicted
    assert not any(dataset == "bioasq-factoid" for dataset, _ in contradicted)


def small(folder: Path, second: str) -> AuditRecipe:
    """One model on one dataset in two tables of a paper."""
    column = {"key": "bert", "label": "BERT", "model": "bert", "published": ["bert"], "standard": True}
    row = {
        "key": "d", "dataset": "d", "label": "D", "metric": "mrr", "published": "d", "printed": "mrr",
        "why": "x",
    }  # fmt: skip
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
