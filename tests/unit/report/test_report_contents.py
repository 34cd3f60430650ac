"""The contents of a report."""

from pathlib import Path

import pytest

from pubmill.report.rendering import to_json
from pubmill.report.study_report import days_in_words, read_report, render, rounded_count
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put, put_study, recipe
from tests.unit.tables import test_fact_cells as made_up_facts
from tests.unit.tables.test_answer_costs import asked_table


def test_the_contents_are_by_paper_and_tables_of_a_section_come_last(tmp_path: Path) -> None:
    """lewis2020 gives the sizes of its corpora in section 3, without a table."""
    results = put_study(tmp_path, made_up.table(tmp_path, made_up.recipe()))
    facts = ["gu2020/section3", "gu2020/table10", "gu2020/table03"]
    table = to_json(made_up_facts.table(results, made_up_facts.recipe()))
    for name in facts:
        put(results / f"tables/small/{name.replace('/', '-')}.json", table)
    report = read_report(recipe(fact_tables=facts), results)
    assert [place[:2] for place in report.contents["gu2020"]] == [
        ("Table 3", "f3"), ("Table 6", "t1"), ("Table 10", "f2"), ("Section 3", "f1"),
    ]  # fmt: skip
    page = parsed(render(report))
    links = page.xpath("//nav//p[.='gu2020']/following-sibling::ul[1]//a/@href")
    assert links == ["#f3", "#t1", "#f2", "#f1"] and "Section 3" in page.xpath("string(//nav)")
    assert report.anchors == {"gu2020/table06": "#t1"} and page.xpath("//h2[@id='t1']")


def test_trials_are_a_stage_where_hyper_parameters_were_chosen(tmp_path: Path) -> None:
    results = put_study(tmp_path, made_up.table(tmp_path, made_up.recipe()))
    assert "trials" not in {box.stage for box in read_report(recipe(), results).pipeline.boxes}
    put(results / "runs/blurb/selected/bc2gm/standard.json", "{}")
    boxes = read_report(recipe(), results).pipeline.boxes
    assert [box.counted for box in boxes if box.stage == "trials"] == ["hyper-parameters"]


def test_the_cost_of_answers_stands_below_the_table_beside_the_time_of_others(tmp_path: Path) -> None:
    results = put_study(tmp_path, asked_table(tmp_path))
    costs = parsed(render(read_report(recipe(), results))).xpath("//dl[contains(@class, 'costs')]")
    assert [found.xpath("./*/text()") for found in costs] == [
        ["BERT", "20 s, 2 runs", "Ours", "3,000,000 + 100,000 tokens, 2 runs; answers: 0 not read, 3 cut off"]
    ]


@pytest.mark.parametrize(("number", "nouns", "text"), [
    (0, ("file",), ""), (1, ("file",), "1 file"), (2, ("corpus", "corpora"), "2 corpora"),
    (9_999, ("file",), "9 999 files"), (10_000, ("file",), "10 k files"),
])  # fmt: skip
def test_large_counts_are_rounded(number: int, nouns: tuple[str, ...], text: str) -> None:
    shown = rounded_count(number, *nouns)
    assert shown.replace("\N{NARROW NO-BREAK SPACE}", " ").replace("\N{NO-BREAK SPACE}", " ") == text


def test_a_paper_is_cited_by_its_protocol_or_else_by_its_first_table(tmp_path: Path) -> None:
    results = put_study(tmp_path, made_up.table(tmp_path, made_up.recipe(citation="Gu et al., Table 6")))
    known, unknown = recipe(), recipe(references={})
    assert [one.doi for one in read_report(known, results).references] == ["10.1145/3458754"]
    page = parsed(render(read_report(unknown, results)))
    assert page.xpath("//ul[@class='cite']/li/text()")[-1] == "Gu et al., Table 6"


def test_days_are_one_or_the_first_and_the_last() -> None:
    assert days_in_words(["2026-01-03", "2026-01-02", "2026-01-05"]) == "2026-01-02 to 2026-01-05"
    assert days_in_words(["2026-01-03", "2026-01-03"]) == "2026-01-03"
