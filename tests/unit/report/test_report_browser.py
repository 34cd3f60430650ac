"""The report in headless Chromium: its script, accessibility, a phone, both themes, the keyboard.

Needs Debian's `chromium` and the packages playwright and axe-playwright-python of the dev extra.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubmill.report.study_report import read_report, render
from pubmill.report.table_rendering import TABLE_RENDERERS
from tests import full_report
from tests.browser import launched, needs_chromium, opened, violations
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put_page, put_source, put_study, put_training, recipe, training
from tests.waiting import wait_until

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytestmark = [needs_chromium, pytest.mark.long]

CARD = "t1-ours-second"
ONCE_EVALUATED = ("bert", "second")
HEADER = "column,row,metric,value,note\n"
PUBLISHED = (
    HEADER
    + "bert,first,entity_f1,80.9,bold\nbert,second,entity_f1,70.2,\nother,first,entity_f1,75.5,of dev\n"
)


def wait_for(page: Any, condition: str) -> None:
    """Wait until a condition holds in the page, whose policy forbids the `eval` of `wait_for_function`."""
    wait_until(lambda: bool(page.evaluate(condition)), 10, condition)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched(playwright) as made:
        yield made


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models with runs and one without, on two datasets that they rank differently."""
    results = tmp_path_factory.mktemp("results")
    scores = {"bert": {"first": 0.81, "second": 0.71}, "ours": {"first": 0.61, "second": 0.91}}
    for model, found in scores.items():
        for dataset, score in found.items():
            for seed in (1, 2):
                made_up.write(results, made_up.record(model, dataset, seed, score + seed / 1000))
                values = {"batch_size": 16, "learning_rate": 0.001 if model == "bert" else 3e-05}
                scores_on_dev = [score] if (model, dataset) == ONCE_EVALUATED else [0.5, score, 0.6]
                course = training(values, scores_on_dev, [0.9, 0.4, 0.2 * seed])
                put_training(results, made_up.paths(model, dataset)[seed - 1], course)
    rows = [made_up.row(name, name.title(), "ner", "entity_f1") for name in scores["bert"]]
    columns = [
        made_up.column(*names) for names in (("other", "Other & co"), ("bert", "BERT"), ("ours", "Ours"))
    ]
    records = {model: {name: made_up.paths(model, name) for name in scores[model]} for model in scores}
    margins = {name: {"points": 1, "why": "made up"} for name in scores["bert"]}
    rule = {"alpha": 0.05, "power": 0.8, "margins": margins, "runs": dict.fromkeys(margins, 5)}
    changes = {"rows": rows, "columns": columns, "records": records, "equivalence": rule}
    made = made_up.recipe(composites=[], missing={}, **changes)
    put_study(results, made_up.table(results, made, PUBLISHED))
    put_page(results, "of-span", "span")
    put_source(results, "a" * 100, "h" * 100)  # never wider than a phone
    sources = [f"sources/{'h' * 100}/{'a' * 100}.source.json"]
    path = results / "reports/small.html"
    path.parent.mkdir()
    path.write_text(render(read_report(recipe(datasets=["bc2gm", "of-span"], sources=sources), results)))
    return path.as_uri()


def heads(page: Any) -> list[str]:
    """The labels of the table's rows, in order, without their metrics."""
    texts = page.locator("table.scores[data-table] tbody th").all_inner_texts()
    return [text.split("\n")[0].strip() for text in texts]


@pytest.fixture
def page(browser: Any, address: str) -> Any:
    return opened(browser, address)


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_axe_finds_nothing_in_either_theme(browser: Any, address: str, size: str, scheme: str) -> None:
    page = opened(browser, address, size, color_scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert violations(page) == []
    page.evaluate(f"openCard('{CARD}')")
    assert page.locator("dialog[open]").count() == 1 and violations(page) == []


def test_the_themes_differ_and_the_button_changes_them(browser: Any, address: str) -> None:
    page = opened(browser, address, color_scheme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(colour)
    assert dark != "rgb(255, 255, 255)"
    page.reload()
    assert page.evaluate(colour) == dark


def test_a_phone_shows_own_columns_first_and_never_scrolls_sideways(browser: Any, address: str) -> None:
    page = opened(browser, address, "phone")
    columns = page.locator("table.scores[data-table] thead th").all_inner_texts()
    assert columns[1:] == ["BERT", "Ours", "Other & co"]
    page.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not page.locator(".menu nav").is_visible()
    page.locator(".menu > summary").click()
    page.locator(".menu a[href='#t1']").click()
    assert not page.locator(".menu nav").is_visible()


def test_models_become_rows_and_are_sorted_by_a_score(page: Any) -> None:
    assert heads(page) == ["First", "Second"]
    page.get_by_role("button", name="Models as rows").click()
    assert heads(page) == ["BERT", "Ours", "Other & co"]
    for expected, said in (
        (["Ours", "BERT", "Other & co"], "descending"), (["BERT", "Ours", "Other & co"], "ascending"),
        (["BERT", "Ours", "Other & co"], None),
    ):  # fmt: skip
        page.locator("th[data-key=second] button").click()
        assert heads(page) == expected
        assert page.locator("th[data-key=second]").get_attribute("aria-sort") == said
    # a column without runs has nothing to sort by
    assert page.locator("th[data-key=other] button").count() == 0


def test_rows_and_columns_are_filtered(page: Any) -> None:
    columns = page.locator("table.scores[data-table] thead th[data-key]")
    page.get_by_label("Only what was run").check()
    assert columns.all_inner_texts() == ["BERT", "Ours"]
    page.get_by_label("Filter rows and columns").fill("sec")
    assert heads(page) == ["Second"] and columns.count() == 2
    page.get_by_label("Filter rows and columns").fill("nobody")
    assert page.get_by_text("nothing matches").is_visible() and heads(page) == ["First", "Second"]


def test_notes_and_signs_explain_values_and_hide_with_their_columns(page: Any) -> None:
    """A star marks a remark; typography, such as bold, has none."""
    stars = page.locator("td .published span[title]")
    assert stars.all_inner_texts() == ["*"] and stars.first.get_attribute("title") == "of dev"
    assert page.get_by_text("* the paper has a remark on this value").is_visible()
    page.get_by_text("Notes: source").click()
    note, why = page.get_by_text("Other & co: of dev"), page.locator("#t1-missing")
    assert note.is_visible() and why.is_visible()
    page.get_by_label("Only what was run").check()
    assert not note.is_visible() and not why.is_visible()


def test_what_is_chosen_is_in_the_address(page: Any, browser: Any, address: str) -> None:
    page.get_by_role("button", name="Models as rows").click()
    page.locator("th[data-key=second] button").click()
    page.get_by_label("Only what was run").check()
    page.get_by_label("Filter rows and columns").fill("ours")
    again = opened(browser, page.evaluate("location.href"))
    assert heads(again) == ["Ours"]
    again.get_by_label("Filter rows and columns").fill("")
    assert heads(again) == ["Ours", "BERT"] and again.get_by_label("Only what was run").is_checked()
    assert again.locator("th[data-key=second]").get_attribute("aria-sort") == "descending"
    again.locator("th[data-key=second] button").click()
    again.locator("th[data-key=second] button").click()
    again.get_by_label("Only what was run").uncheck()
    again.get_by_role("button", name="Models as rows").click()
    assert again.evaluate("location.href") == address, "what is as at first is not named"


def test_a_mostly_empty_table_begins_with_what_was_run(browser: Any, address: str, tmp_path: Path) -> None:
    """Two of six cells have a value."""
    text = Path(address.removeprefix("file://")).read_text(encoding="utf-8")
    bare = text.replace('data-value="81.15"', "").replace('data-value="71.15"', "")
    (tmp_path / "page.html").write_text(bare)
    page = opened(browser, (tmp_path / "page.html").as_uri())
    columns = page.locator("table.scores[data-table] thead th[data-key]")
    assert columns.all_inner_texts() == ["Ours"] and page.get_by_label("Only what was run").is_checked()
    page.get_by_label("Only what was run").uncheck()
    assert columns.count() == 3
    again = opened(browser, page.evaluate("location.href"))
    assert again.locator("table.scores[data-table] thead th[data-key]").count() == 3


def test_cells_are_compact_and_heads_stay_in_view(page: Any) -> None:
    cell = page.locator("td:has(a[href='#t1-bert-first'])")
    shown = cell.inner_text()
    assert "81.15" in shown and "80.9" in shown and "+0.25" in shown and "2/2" not in shown
    page.get_by_label("All of each cell").check()
    assert "2/2" in cell.inner_text()
    box = page.locator(".scores-box").first
    assert box.evaluate("(one) => one.scrollHeight <= one.clientHeight && one.classList.contains('fits')")
    head = page.locator("table.scores[data-table] thead th").nth(1)
    cell.evaluate("(one) => window.scrollTo(0, one.getBoundingClientRect().top + scrollY - 10)")
    wait_for(page, "scrollY > 0")
    assert head.bounding_box()["y"] == 0


def test_a_number_opens_its_card_and_back_closes_it(page: Any, browser: Any, address: str) -> None:
    page.locator(f"table a[href='#{CARD}']").click()
    card = page.locator("dialog[open]")
    text = card.inner_text()
    explained = "explain --study small gu2020/table06"
    for part in ("Ours, Second", "91.15", "91.10", "91.20", "Minus BERT: +20.00", explained):
        assert part in text, part
    assert "dev 91.00, epoch 2; loss 0.9 to 0.3, 3 epochs" in text
    assert card.locator(".course-box path").count() == 2 and "learning_rate" not in text
    card.get_by_text("Recipe: hyper-parameters as resolved").click()
    assert "learning_rate 3e-05\n\nAs in most runs: batch_size 16\n" in card.inner_text()
    links = [link.get_attribute("href") for link in card.locator("li a").all()]
    assert "../runs/blurb/ours/second/standard/final/seed-2.json" in links
    assert "../runs/blurb/ours/second/standard/final/seed-2.predictions.jsonl.gz" in links
    page.go_back()
    assert card.count() == 0
    linked = opened(browser, f"{address}#{CARD}")
    assert "Ours, Second" in linked.locator("dialog[open]").inner_text()


def test_arrows_step_from_card_to_card_and_slash_searches(page: Any) -> None:
    page.locator(f"table a[href='#{CARD}']").click()
    title = page.locator("#card-title")
    first = title.inner_text()
    assert first.startswith("Ours, Second")
    page.keyboard.press("ArrowLeft")
    assert title.inner_text() != first
    page.get_by_role("button", name="Next").click()
    assert title.inner_text() == first
    page.go_back()
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("/")
    page.keyboard.type("provenance")
    page.keyboard.press("Enter")
    assert "provenance" in page.evaluate("location.hash")


def test_all_is_reached_by_the_keyboard(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.hash ?? ''") == f"#{CARD}":
            break
    page.keyboard.press("Enter")
    assert page.locator("dialog[open]").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0
    wait_for(page, f"document.activeElement.hash === '#{CARD}'")


def test_the_contents_are_searched_and_name_the_part_that_is_read(page: Any) -> None:
    shown = page.locator(".menu nav li:visible")
    page.get_by_label("Search the contents").fill("other & co")
    assert [text.split("\n")[0] for text in shown.all_inner_texts()] == ["Table 6"]
    page.get_by_label("Search the contents").fill("of-span")
    assert "Datasets" in shown.all_inner_texts()
    page.get_by_label("Search the contents").fill("")
    page.locator(".menu a[href='#data']").click()
    wait_for(page, "document.querySelector('[aria-current]').hash === '#data'")


def test_a_card_names_the_lines_that_are_drawn_and_the_ends_of_scales(page: Any) -> None:
    for card, solid in (("t1-bert-second", False), (CARD, True)):
        page.evaluate(f"openCard('{card}')")
        text = page.locator("dialog").inner_text()
        assert ("the solid line is the score on dev" in text) == solid
        assert "the dashed line is the loss in training" in text
    scales = page.locator("dialog .course-box span").all_inner_texts()
    assert [text.split("\n") for text in scales] == [["91.0", "dev", "50.0"], ["0.9", "loss", "0.3"]]


def test_paper_begins_with_the_title_and_has_summary_and_tables(browser: Any, address: str) -> None:
    page = opened(browser, address, color_scheme="dark")
    page.emulate_media(media="print")
    shown = [
        page.locator(f"#{part}").is_visible() for part in ("overview", "t1", "figures", "provenance", "cite")
    ]
    assert shown == [True, True, False, False, True]
    page.evaluate("window.print = () => {}; document.querySelector('header button').click()")
    assert page.locator("#provenance").is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.locator("#provenance").is_visible()
    assert page.locator("h1").bounding_box()["y"] < 40
    assert not page.locator(".menu").is_visible() and not page.locator(".tools").first.is_visible()


def test_without_script_a_number_leads_to_its_runs(browser: Any, address: str) -> None:
    page = opened(browser, address, java_script_enabled=False)
    page.locator(f"table a[href='#{CARD}']").click()
    page.locator(f"#{CARD} a").click()
    assert page.get_by_text("blurb/ours/second/standard").is_visible()
    page.locator("li:target a").click()
    assert page.locator("li:target").inner_text() == "learning_rate 3e-05"
    assert page.locator("button").count() == 0 and page.locator(".menu nav").is_visible()


@pytest.mark.weekly
def test_a_report_of_all_tables_is_small_and_fits_a_phone_and_a_desk(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "reports/all.html"
    report = full_report.write(tmp_path)
    path.parent.mkdir(exist_ok=True)
    path.write_text(render(report))
    assert path.stat().st_size < 116_000 * len(report.tables)
    page = opened(browser, path.as_uri(), "phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("grids.length") == len(report.tables)
    page = opened(browser, path.as_uri())
    wide = "(box) => box.scrollWidth > box.clientWidth && box.getAttribute('aria-label')"
    assert page.evaluate(f"[...document.querySelectorAll('.scores-box')].map({wide}).filter(Boolean)") == []
    assert page.locator(".scores-box.tight").count() >= 3


def test_a_tables_own_page_begins_with_what_was_run_and_opens_the_runs(browser: Any, tmp_path: Path) -> None:
    """A table of which less than half was run; its policy lets its script do so."""
    names = ("first", "second", "third")
    rows = [made_up.row(name, name.title(), "ner", "entity_f1") for name in names]
    records = {"bert": {name: made_up.paths("bert", name) for name in ("first", "third")}}
    made_up.write(
        tmp_path, *(made_up.record("bert", name, s, 0.8) for name in records["bert"] for s in (1, 2))
    )
    made = made_up.recipe(rows=rows, records=records, composites=[], missing={})
    path = tmp_path / "table.html"
    path.write_text(TABLE_RENDERERS["html"](made_up.table(tmp_path, made, made_up.HEADER)))
    page = opened(browser, path.as_uri())
    texts = page.locator("table.scores tbody th").all_inner_texts()
    assert [text.split()[0] for text in texts] == ["First", "Third"]
    page.locator(".ours a").first.click()
    assert page.locator("details[open] article").filter(has_text="standard/final").count()
