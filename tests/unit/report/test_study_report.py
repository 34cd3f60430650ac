"""The page of a report, from a made-up results folder."""

import itertools
from pathlib import Path

from pubmill.report.rendering import to_json
from pubmill.report.study_report import read_report, render
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put, put_page, put_table, recipe
from tests.unit.tables import test_fact_cells as made_up_facts


def test_the_page_holds_every_part(results: Path) -> None:
    page = parsed(render(read_report(recipe(), results)))
    text = " ".join(page.text_content().split())
    digests = ("c" * 40, "5" * 64)
    for part in ("4 of 4", "too short", "30.0 %", "1.250", "3 ✓", "not marked", "1 min 0 s", *digests):
        assert part in text, part
    [times] = page.xpath("//div[@aria-label='Time of fine-tuning']")
    cells = [cell.text_content() for cell in times.xpath(".//tbody/tr")[0]]
    assert cells == ["gu2020/table06", "BERT", "2", "20 s", "10 s", "10 s"]
    assert not page.xpath("//*[@id='statements']")
    assert "not comparable" in page.xpath("string(//*[@class='banner'])")


def test_the_page_is_self_contained_accessible_and_deterministic(results: Path) -> None:
    text = render(read_report(recipe(), results))
    page = parsed(text)
    assert not page.xpath("//link | //img | //@src") and len(page.xpath("//script")) == 1
    assert page.xpath("//a[starts-with(@href, '#')]")
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.xpath("//main//a/@href | //nav//a/@href") if link[0] == "#"} <= set(ids)
    # what leads elsewhere: files beside the report, what a dataset's page names, the paper
    elsewhere = page.xpath("//a[not(starts-with(@href, '#'))]/@href")
    assert [link for link in elsewhere if not link.startswith("../tables/small/gu2020-table06.")] == [
        "https://example.org/apply", "https://doi.org/10.1145/3458754",
    ]  # fmt: skip
    assert all(figure.xpath("string(.//desc)") for figure in page.xpath("//figure"))
    assert text == render(read_report(recipe(), results))


def test_headings_never_skip_a_level(results: Path) -> None:
    """Nor where every cell has a value, so that no reasons stand between the table and its runs."""
    rows = [made_up.row("bc2gm", "BC2GM", "ner", "entity_f1")]
    made = made_up.recipe(rows=rows, composites=[], missing={})
    put_table(results, made_up.table(results, made, made_up.HEADER))
    page = parsed(render(read_report(recipe(), results)))
    levels = [int(head.tag[1]) for head in page.xpath("//h1 | //h2 | //h3 | //h4 | //h5")]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_datasets_of_every_kind_and_tables_of_facts_are_shown(results: Path) -> None:
    for kind in ("sequence", "multilabel", "regression", "span"):
        put_page(results, f"of-{kind}", kind)
    made = recipe(
        datasets=["bc2gm", "of-sequence", "of-multilabel", "of-regression", "of-span"],
        fact_tables=["gu2020/table03"],
    )
    facts = made_up_facts.table(results, made_up_facts.recipe())
    put(results / "tables/small/gu2020-table03.json", to_json(facts))
    page = parsed(render(read_report(made, results)))
    sections = page.xpath("//div[starts-with(@aria-label, 'Datasets counted by')]")
    lines = [
        [" ".join(cell.text_content().split()) for cell in tr.xpath("./*")]
        for part in sections
        for tr in part.xpath(".//tbody/tr")
    ]
    assert len(sections) == 5 and len(lines) == 10
    assert ["of-sequence", "train", "10 ✓, as expected", "not marked", "1", "7", "1", ""] in lines
    assert ["of-span", "test", "6", "5", "4", "7", "1", "not marked", "7", "1", "3"] in lines
    assert "differs from the published" in page.text_content()
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.xpath("//a/@href") if link.startswith("#")} <= set(ids)
    facts_alone = read_report(recipe(tables=[], fact_tables=["gu2020/table03"], models=[]), results)
    assert "Scores per seed" not in render(facts_alone) and 'href="#f1"' in render(facts_alone)


def test_the_models_of_each_table_are_compared(results: Path) -> None:
    page = parsed(render(read_report(recipe(), results)))
    [section] = page.xpath("//details[contains(summary, 'Models compared: 1 of 2 rows')]")
    lines = [" ".join(tr.text_content().split()) for tr in section.xpath(".//tbody/tr")]
    assert lines == [
        "BC2GM entity F1; best: Ours; 60 documents", "BERT +10.00 −0.25 to +2.50 0.01 0.02 0.03 0.06",
    ]  # fmt: skip
    assert "paired bootstrap" in section.text_content()


def test_each_dataset_has_its_page_which_its_name_leads_to(results: Path) -> None:
    put_page(results, "of@span", "span")
    page = parsed(render(read_report(recipe(datasets=["bc2gm", "of@span"]), results)))
    closed = page.xpath("//details[@class='page'][not(@open)]")
    assert [one.get("id") for one in closed] == ["page-bc2gm", "page-of@span"]
    links = page.xpath("//div[starts-with(@aria-label, 'Datasets counted by')]//a/@href")
    assert links == ["#page-bc2gm", "#page-of@span"]
    for part in ("Repetitions and overlaps", "The licence of the drugs", "95th percentile", "export of@span"):
        assert part in closed[1].text_content(), part
    # beneath the heading that they stand under
    assert not closed[1].xpath(".//h1 | .//h2 | .//h3") and len(closed[1].xpath(".//h4")) > 5


def test_a_run_of_two_tables_is_counted_once(results: Path) -> None:
    for form in ("json", "comparisons.json"):
        same = (results / f"tables/small/gu2020-table06.{form}").read_text()
        put(results / f"tables/small/gu2020-table07.{form}", same)
    report = read_report(recipe(tables=["gu2020/table06", "gu2020/table07"]), results)
    assert len(report.runs) == 4 and sum(report.runs.values()) == 40.0
    assert "all tables4 40 s of training" in parsed(render(report)).text_content()


def test_supplied_predictions_are_shown_as_what_they_are(results: Path) -> None:
    """No fine-tuning runs, by the stated name of their system."""
    table = made_up.table_with_systems(results)
    put_table(results, table)
    report = read_report(recipe(models=["bert", "ours", "genes", "drugs"]), results)
    text = " ".join(parsed(render(report)).text_content().split())
    assert report.models == ["Genes", "Drugs", "Bert", "Ours"]
    assert "4 of 4 none failed; 40 s of training, searches not counted; 2 systems not fine-tuned here" in text
    assert table.has_runs["best"], "a column that is the best of others is shown as ours"
    assert "ner_genes 0.5.4, not fine-tuned here (https://example.org)" in text
    assert report.strips
    (strip,) = report.strips["gu2020/table06"]
    assert [lane.label for lane in strip.lanes] == ["Genes", "Drugs", "Bert", "Ours"]
    assert [message for _, message in strip.lanes[0].points] == ["seed 1: 60.00"]
    assert "Drugs: seed 1 40.00; mean 40.00; no published value." in strip.description
    assert "Bert: seed 1 80.00, seed 2 82.00; mean 81.00; published 80.90." in strip.description


SPEC = """\
name: small
paper: {paper}
hyperparameters: {{epochs: 3, warmup: 0.1}}
method:
  hyperparameters.epochs: {{ours: "not stated <b>"}}
  hyperparameters.warmup: {{section: "6.2", says: a tenth, differs: a fifth is better}}
"""


def test_statements_on_methods_are_shown_by_paper_and_folded(results: Path, tmp_path: Path) -> None:
    files = []
    for paper in ("gu2020", "shin2020"):
        path = tmp_path / f"specs/protocols/{paper}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SPEC.format(paper=paper))
        files.append(str(path))
    text = render(read_report(recipe(statements=files), results))
    page = parsed(text)
    [table] = page.xpath("//div[@aria-label='Statements by paper']/table")
    counts = [[cell.text_content() for cell in row] for row in table.xpath("./tbody/tr")]
    assert counts == [["gu2020", "0", "0", "1", "1"], ["shin2020", "0", "0", "1", "1"]]
    folded = page.xpath("//details[starts-with(summary, 'Statements on')]")
    assert len(folded) == 2 and not any("open" in one.attrib for one in folded)
    rows = [[cell.text_content() for cell in row] for row in folded[0].xpath(".//tbody/tr")]
    assert rows == [
        ["hyperparameters.epochs", "3", "", "", "ours", "not stated <b>"],
        ["hyperparameters.warmup", "0.1", "a tenth", "6.2", "differs", "a fifth is better"],
    ]
    assert folded[0].xpath(".//h3/text()") == ["protocols/gu2020"]
    assert page.xpath("//nav//a[@href='#statements']") and "not stated <b>" not in text
