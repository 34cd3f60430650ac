"""The page of one table in a browser.

Needs Debian's `chromium` and the packages playwright and axe-playwright-python of the dev extra.
"""

from pathlib import Path

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from tests.browser import launched, needs_chromium, opened
from tests.unit import toy_tables as made_up

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")


@needs_chromium
def test_a_tables_own_script_runs_and_a_cell_opens_the_runs_behind_it(tmp_path: Path) -> None:
    """A table of which less than half was run begins with what was run; its policy lets the script do so."""
    names = ("first", "second", "third")
    rows = [made_up.row(name, name.title(), "ner", "entity_f1") for name in names]
    records = {"bert": {name: made_up.paths("bert", name) for name in ("first", "third")}}
    for seed in (1, 2):
        for name, score in (("first", 0.81), ("third", 0.91)):
            made_up.write(tmp_path, made_up.record("bert", name, seed, score))
    made = made_up.recipe(rows=rows, records=records, composites=[], missing={})
    path = tmp_path / "table.html"
    path.write_text(TABLE_RENDERERS["html"](made_up.table(tmp_path, made, made_up.HEADER)))
    with launched(playwright) as browser:
        page = opened(browser, path.as_uri())
        heads = page.locator("table.scores tbody th").all_inner_texts()
        assert [text.split()[0] for text in heads] == ["First", "Third"]
        page.locator(".ours a").first.click()
        assert page.locator("details[open] article").filter(has_text="standard/final").count()
