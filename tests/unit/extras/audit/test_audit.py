"""The audit of published values: those of the five papers, made-up tables with known verdicts, its pages."""

from collections import Counter
from csv import DictReader
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit.audit_recipes import (
    AuditedColumn,
    AuditedRow,
    AuditedTable,
    AuditRecipe,
    ScoreCounts,
    StatedRuns,
)
from pubmill.extras.audit.contradictions import Contradiction
from pubmill.extras.audit.value_audit import (
    AUDIT_RENDERERS,
    FACT,
    PARTS_NOT_PRINTED,
    UNSTATED_FOLDS,
    UNSTATED_RUNS,
    Audit,
    Finding,
    audit,
)
from pubmill.recipes.tables import Composite
from pubmill.report.rendering import to_json
from pubmill.report.study_report import read_report, render
from pubmill.tables.cells import read_as
from tests.conftest import ROOT
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.programs import Ended, run_verb
from tests.unit.report.toy_reports import HOSTILE, put, put_table, recipe

SPECS = ROOT / "specs"
UNREACHABLE = ["73.69", "74.22", "74.44", "75.20", "76.41", "78.51", "87.20", "87.56"]
"""BioASQ of gu2020: no k/1400."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    results = tmp_path_factory.mktemp("results")
    return results, run_verb("audit", "gu2020/table06", "--results", results)


@pytest.fixture(scope="module")
def papers(made: tuple[Path, Ended]) -> Audit:
    return read_as(Audit, made[0] / "pages/audit.json")


def test_every_published_value_has_one_verdict(papers: Audit) -> None:
    """Empty values are none."""
    files = list(SPECS.glob("tables/*/table*.published.csv"))
    printed = sum(bool(row["value"]) for file in files for row in DictReader(file.open(encoding="utf-8")))
    counts = papers.counts["all"]
    assert len(papers.findings) == sum(counts.values()) == printed >= 2000
    assert counts["unreachable"] == 13
    assert sum(papers.reasons.values()) == counts["untestable"] and all(papers.reasons)


def test_the_values_of_bioasq_and_pubmedqa_in_gu2020(papers: Audit) -> None:
    tests = {(one.paper, one.dataset): one for one in papers.tests}
    bioasq, pubmedqa = tests["gu2020", "BioASQ"], tests["gu2020", "PubMedQA"]
    assert bioasq.having("unreachable") == UNREACHABLE and len(bioasq.distinct) == 15
    assert pubmedqa.having("unreachable") == [] and len(pubmedqa.distinct) == 15
    assert (bioasq.by_chance, pubmedqa.by_chance) == (0.14, 0.5)
    assert tests["tinn2021", "BioASQ"].having("unreachable") == ["87.56"]


def test_a_value_is_listed_once_with_its_places_arithmetic_and_smallest_change(papers: Audit) -> None:
    assert [one.first.printed for one in papers.unreachable] == UNREACHABLE
    last = papers.unreachable[-1]
    assert last.places == "gu2020 Tables 6, 7, 8, 9; tinn2021 Tables 2, 8"
    assert last.first.test == "mean of 10 runs of k/140, which is k/1400"
    assert "1225/1400 = 87.5000 and 1226/1400 = 87.5714; not reachable if cut off" in last.first.why
    assert last.first.change.startswith("reachable with at least 12 runs on the same 140 items, or with")
    assert "PubMedBERT uncased" in last.models


def test_the_values_of_some_tables(papers: Audit) -> None:
    own = papers.of_tables(("gu2020/table09",))
    assert [one.places for one in own.unreachable] == ["gu2020 Table 9"]
    assert set(own.counts) == {"gu2020", "all"}


PROTOCOLS = {
    "ten": StatedRuns(aggregate="mean", runs={"default": 10}, stated="3"),
    "open": StatedRuns(aggregate="mean", runs={"default": 5}, stated=""),
    "folds": StatedRuns(aggregate="median", runs={"default": 45}, stated="3", unstated=("acc",)),
}


def row(key: str, metric: str, score: ScoreCounts | None = None, **more: object) -> AuditedRow:
    scores = (score,) if score else ()
    return AuditedRow(
        key=key,
        dataset=key.partition(".")[0],
        label=key.upper(),
        metric=metric,
        published=key.partition(".")[0],
        printed=metric,
        scores=scores,
        **more,  # type: ignore[arg-type]
    )


def column(key: str, **more: object) -> AuditedColumn:
    return AuditedColumn(key=key, label=key.upper(), published=(key,), **more)  # type: ignore[arg-type]


ROWS = (
    row("acc", "accuracy", ScoreCounts(kind="share", sizes=(140,))),
    row("few", "accuracy", ScoreCounts(kind="share", sizes=(10,))),
    row("other", "macro_f1", why="no counts"),
    row("ner.p", "entity_precision", why="no predictions", part="precision"),
    row("ner.r", "entity_recall", ScoreCounts(kind="share", sizes=(960,)), part="recall"),
    row("ner", "entity_f1", ScoreCounts(kind="f1", sizes=(960,)), part="f1"),
)
COLUMNS = (
    column("a"), column("b"), column("system", runs=1), column("literature", why="of other work"),
    column("best", combines=("a", "b"), by="best"), column("drop", combines=("a", "b"), by="drop"),
)  # fmt: skip
COMPOSITE = Composite(name="mean", label="Mean", groups={"one": ("acc", "few"), "two": ("other",)})


def judged(
    folder: Path, *lines: str, protocol: str = "ten", copied: str = "", rows: tuple[AuditedRow, ...] = ()
) -> dict[str, Finding]:
    """The verdicts on lines of a published file, by `row/column/metric`."""
    path = folder / "tables/p/table02.published.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["column,row,metric,value,note", *lines]) + "\n")
    table = AuditedTable(
        name="p/table02", paper="p", number=2, protocol=protocol, columns=COLUMNS, rows=rows or ROWS,
        composites=() if rows else (COMPOSITE,), left_out={"cost": "no score", "acc/speed": "a time"},
        protocols={"b/acc": "open"}, copied={copied: "q Table 1"} if copied else {},
    )  # fmt: skip
    made = audit(AuditRecipe(tables=(table,), protocols=PROTOCOLS, facts=(), models={}, versions={}), folder)
    assert len(made.findings) == len(lines)
    return {"/".join(line.split(",")[:3]): one for line, one in zip(lines, made.findings, strict=True)}


def test_verdicts_by_counts(tmp_path: Path) -> None:
    found = judged(
        tmp_path, "a,acc,accuracy,87.56,", "a,few,accuracy,87.00,", "system,few,accuracy,87,",
        "system,acc,accuracy,87.14,", "b,acc,accuracy,87.56,", "a,other,macro_f1,50.0,",
        "literature,acc,accuracy,87.56,",
    )  # fmt: skip
    verdicts = Counter(one.verdict for one in found.values())
    assert verdicts == {"unreachable": 2, "reachable": 2, "untestable": 3}
    assert found["system/few/accuracy"].test == "one run of k/10"
    assert found["system/acc/accuracy"].chance == (2, 100)  # 87.14 and 87.86
    assert found["b/acc/accuracy"].why == UNSTATED_RUNS
    assert found["b/acc/accuracy"].change.startswith("reachable with at least 12 runs")
    assert found["a/other/macro_f1"].why == "no counts"
    assert found["literature/acc/accuracy"].why == "of other work"


def test_runs_over_folds_whose_combination_is_not_stated(tmp_path: Path) -> None:
    one = judged(tmp_path, "a,acc,accuracy,87.56,", protocol="folds")["a/acc/accuracy"]
    assert (one.verdict, one.why) == ("untestable", UNSTATED_FOLDS)
    assert (
        judged(tmp_path, "a,acc,accuracy,87.86,", protocol="folds")["a/acc/accuracy"].verdict == "reachable"
    )


def test_what_is_no_score_of_the_paper(tmp_path: Path) -> None:
    found = judged(
        tmp_path, "a,acc,accuracy,87.56,", "b,acc,accuracy,87.56,copied from elsewhere",
        "a,cost,ratio,4.00x,", "a,acc,speed,12,", "stranger,acc,accuracy,50.0,", copied="a/acc",
    )  # fmt: skip
    assert [(one.verdict, one.why) for one in found.values()] == [
        ("untestable", "copied from q Table 1"), ("untestable", "copied from another paper"),
        ("untestable", "not a score shown here: no score"), ("untestable", "not a score shown here: a time"),
        ("untestable", "no cell of this name"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "verdict"), [("65.0", "reachable"), ("65.1", "reachable"), ("65.2", "unreachable")]
)
def test_composites_follow_from_their_printed_parts(tmp_path: Path, printed: str, verdict: str) -> None:
    """The mean of 75 (of 70 and 80) and 55 is 65, within 0.1 by the rounding of parts and composite."""
    parts = ("a,acc,accuracy,70.0,", "a,few,accuracy,80.0,", "a,other,macro_f1,55.0,")
    one = judged(tmp_path, *parts, f"a,mean,score,{printed},")["a/mean/score"]
    assert one.verdict == verdict
    if verdict == "unreachable":
        assert (one.why, one.change) == ("they give 64.9 to 65.1", "reachable if printed as 65.1")
        assert (
            judged(tmp_path, *parts[:2], f"a,mean,score,{printed},")["a/mean/score"].why == PARTS_NOT_PRINTED
        )


def test_f1_beside_its_precision_and_recall(tmp_path: Path) -> None:
    """The mean F1 of any number of runs is at most the F1 of mean precision and mean recall."""
    parts = ("a,ner,entity_precision,92.9,", "a,ner,entity_recall,92.0,")
    for printed, verdict in (("92.4", "reachable"), ("92.6", "unreachable")):
        one = judged(tmp_path, *parts, f"a,ner,entity_f1,{printed},")["a/ner/entity_f1"]
        assert one.verdict == verdict, one
    assert one.test == "mean F1 of any number of runs with the printed precision and recall"


def test_facts_are_untestable(tmp_path: Path) -> None:
    path = tmp_path / "tables/p/table01.published.csv"
    path.parent.mkdir(parents=True)
    path.write_text("row,column,metric,value,note\na,words,count,3.1B,\na,bytes,text,,not reported\n")
    made = audit(AuditRecipe(tables=(), protocols={}, facts=("p/table01",), models={}, versions={}), tmp_path)
    assert [(one.number, one.why) for one in made.findings] == [(1, FACT)]


def test_what_the_search_does_not_decide_is_untestable(tmp_path: Path) -> None:
    """A mean of F1 that no equal runs give; and relaxed F1, which counts overlaps too."""
    undecided = "the search over counts is not exhaustive for this score, and found none"
    rows = (
        row("one", "entity_f1", ScoreCounts(kind="f1", sizes=(1,))),
        row("loose", "relaxed_f1", ScoreCounts(kind="f1", sizes=(26,))),
    )
    found = judged(
        tmp_path, "a,one,entity_f1,80.00,", "system,loose,relaxed_f1,99.99,", "system,one,entity_f1,50,",
        rows=rows,
    )  # fmt: skip
    assert [(one.verdict, one.why) for one in found.values()] == [
        ("untestable", undecided), ("untestable", undecided), ("reachable", ""),
    ]  # fmt: skip


def test_numbers_of_others_by_chance(tmp_path: Path) -> None:
    """Known of scores that are tested by counts, whatever comes of it; not of those tested by intervals."""
    found = judged(
        tmp_path, "a,acc,accuracy,87.56,", "b,acc,accuracy,80.0,", "drop,acc,delta,10.1,",
        "a,few,accuracy,50,", "a,other,macro_f1,55.0,", "a,mean,score,61.9,",
    )  # fmt: skip
    chances = {name: one.chance for name, one in found.items()}
    assert chances == {
        "a/acc/accuracy": (14, 100), "b/acc/accuracy": (2, 10), "drop/acc/delta": None,
        "a/few/accuracy": (1, 1), "a/other/macro_f1": None, "a/mean/score": None,
    }  # fmt: skip
    made = Audit(findings=tuple(found.values()), contradictions=())
    assert [(one.dataset, one.test) for one in made.tests] == [
        ("ACC", "mean of 10 runs of k/140, which is k/1400"), ("ACC", "one run of k/140"),
    ], "a test that every number passes excludes nothing"  # fmt: skip
    assert [one.by_chance for one in made.tests] == [0.14, 0.2]


def test_the_best_and_the_drop_of_columns_have_the_ends_of_their_parts(tmp_path: Path) -> None:
    """70.0 and 80.0 stand for 69.95 to 70.05 and 79.95 to 80.05."""
    parts = ("a,acc,accuracy,70.0,", "b,acc,accuracy,80.0,")
    found = judged(tmp_path, *parts, "best,acc,accuracy,80.2,", "drop,acc,delta,10.3,")
    assert [(one.why, one.change) for one in list(found.values())[2:]] == [
        ("they give 79.9 to 80.1", "reachable if printed as 80.1"),
        ("they give 9.9 to 10.1", "reachable if printed as 10.1"),
    ]
    within = judged(tmp_path, *parts, "best,acc,accuracy,80.0,", "drop,acc,delta,10.1,")
    assert {one.verdict for one in list(within.values())[2:]} == {"reachable"}
    alone = judged(tmp_path, parts[0], "drop,acc,delta,-1.0,")["drop/acc/delta"]
    assert (alone.verdict, alone.why) == ("untestable", PARTS_NOT_PRINTED)
    low = judged(tmp_path, *parts, "best,acc,accuracy,79.8,", "drop,acc,delta,9.7,")
    assert [one.change for one in list(low.values())[2:]] == [
        "reachable if printed as 79.9", "reachable if printed as 9.9",
    ]  # fmt: skip


def test_other_f1_or_other_datasets_make_no_triple(tmp_path: Path) -> None:
    """Recall of another dataset says nothing of this F1, and precision alone neither."""
    for alone in ("a,ner,entity_precision,92.9,", "a,ner,entity_recall,92.0,"):
        one = judged(tmp_path, alone, "a,ner,entity_f1,92.6,")["a/ner/entity_f1"]
        assert one.test == "mean of 10 runs of an F1 with 960 gold items"
    rows = (*ROWS[3:5], row("other", "entity_f1", ScoreCounts(kind="f1", sizes=(960,)), part="f1"))
    parts = ("a,ner,entity_precision,92.9,", "a,ner,entity_recall,92.0,")
    one = judged(tmp_path, *parts, "a,other,entity_f1,92.6,", rows=rows)["a/other/entity_f1"]
    assert one.test == "mean of 10 runs of an F1 with 960 gold items"


def test_reasons_come_with_the_most_frequent_first_and_places_once(tmp_path: Path) -> None:
    lines = ("a,other,macro_f1,50.0,", "b,other,macro_f1,51.0,")
    made = Audit(findings=tuple(judged(tmp_path, *lines).values()), contradictions=())
    assert list(made.reasons.items()) == [("no counts", 2)]
    assert made.counts == {"p": Counter(untestable=2), "all": Counter(untestable=2)} and made.tests == []


def finding(table: str, printed: str, verdict: str, why: str) -> Finding:
    paper, _, name = table.partition("/")
    values = {"table": table, "paper": paper, "number": int(name[-2:]), "model": HOSTILE, "dataset": "A|B"}
    texts = {"metric": "accuracy", "printed": printed, "verdict": verdict, "test": "k/10", "why": why}
    return Finding.model_validate({**values, **texts, "change": "none", "chance": (1, 10)})


def contradiction(table: str) -> Contradiction:
    """A value of the table against one of lewis2020."""
    paper, _, name = table.partition("/")
    return Contradiction(
        model=f"Model of {paper}", dataset="bc2gm", tables=(table, "lewis2020/table02"),
        sources=(("84.5", f"{paper} Table {int(name[-2:])}"), ("85.6", "lewis2020 Table 2")), range=1.1,
        reasons=(HOSTILE,),
    )  # fmt: skip


FOUND = Audit(
    findings=(
        finding("gu2020/table06", "-0.5", "unreachable", "the nearest scores"),
        finding("gu2020/table06", "70.0", "reachable", ""),
        finding("gu2020/table07", "-0.5", "unreachable", "the nearest scores"),
        finding("shin2020/table01", "1.0", "untestable", f"not stated {HOSTILE}"),
    ),
    contradictions=tuple(map(contradiction, ("gu2020/table06", "shin2020/table01"))),
)


def test_the_page_names_verdicts_places_and_reasons_and_escapes_them() -> None:
    page = AUDIT_RENDERERS["html"](FOUND)
    assert "gu2020 Tables 6, 7" in page and "The nearest scores." in page and "10.0 %" in page
    assert "<img" not in page and "&lt;img" in page
    assert "A|B" in page


def test_the_report_of_a_comparable_study_has_the_verdicts_on_its_tables(tmp_path: Path) -> None:
    put_table(tmp_path, made_up.table(tmp_path, made_up.recipe(records={})))
    bare: dict[str, Any] = {
        "pretraining": {}, "corpora": [], "vocabs": [], "datasets": [], "models": [], "sources": [],
    }  # fmt: skip
    assert "Are these numbers possible?" not in render(read_report(recipe(**bare), tmp_path))
    with pytest.raises(PubmillError, match=r"audit\.json"):
        read_report(recipe(**bare, sections=["audit"]), tmp_path)
    put(tmp_path / "pages/audit.json", to_json(FOUND))
    assert read_as(Audit, tmp_path / "pages/audit.json") == FOUND
    page = render(read_report(recipe(**bare, sections=["audit"]), tmp_path))
    assert page.count("Are these numbers possible?") == 2 and "gu2020 Table 6<" in page
    assert "shin2020" not in page and "gu2020 Tables 6, 7" not in page
    [section] = parsed(page).xpath("//details[contains(summary, 'why they differ')]")
    assert section.xpath(".//tbody/tr/th/text()") == ["Model of gu2020"]
    text = " ".join(section.text_content().split())
    assert "84.5 gu2020 Table 6" in text and "85.6 lewis2020 Table 2" in text and HOSTILE in text
    assert "2 are known in the papers. 1 of them" in " ".join(parsed(page).text_content().split())
    assert parsed(page).xpath("//nav//a[@href='#contradictions']")


def test_the_page_by_the_command_names_its_files(made: tuple[Path, Ended]) -> None:
    results, ended = made
    head, line, *_, first, second = ended.stdout.splitlines()
    assert [Path(first), Path(second)] == [results / f"pages/audit.{form}" for form in ("json", "html")]
    assert (results / "pages/audit.html").is_file()
    assert head.split() == ["paper", "reachable", "unreachable", "untestable"] and line.startswith("gu2020")
    assert "no table of results of a paper 'gu2020/table60'" in run_verb("audit", "gu2020/table60").stderr


def test_one_number_by_the_command() -> None:
    made = run_verb("audit", "--value", "87.56", "--metric", "accuracy", "--n", "140", "--runs", "10")
    assert made.returncode == 0 and len(lines := made.stdout.splitlines()) == 5
    assert lines[0] == "87.56: unreachable under the stated protocol"
    said = run_verb("audit", "--value", "9", "--metric", "f2", "--n", "3").stderr
    assert "there is no metric 'f2'; the nearest: f1" in said
