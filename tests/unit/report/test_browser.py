"""Pages as a browser shows them: headless Chromium, where there is one."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pubmill.report.table_rendering import TABLE_RENDERERS
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.waiting import patience

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


def shown(page: Path, *options: str) -> str:
    """The document after its scripts have run, and what the console says."""
    quiet = (
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
    )
    line = [CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", *quiet, *options]
    line += [
        f"--user-data-dir={page.parent / 'profile'}",
        "--enable-logging=stderr",
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=patience(120), check=True)
    assert "Content Security Policy" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Three datasets in one group; BERT has 81, none and 91 on them."""
    names = ("first", "second", "third")
    rows = [made_up.row(name, name.title(), "ner", "entity_f1") for name in names]
    records = {"bert": {name: made_up.paths("bert", name) for name in ("first", "third")}}
    for seed in (1, 2):
        for name, score in (("first", 0.81), ("third", 0.91)):
            made_up.write(tmp_path, made_up.record("bert", name, seed, score))
    made = made_up.recipe(rows=rows, records=records, composites=[], missing={})
    path = tmp_path / "table.html"
    path.write_text(TABLE_RENDERERS["html"](made_up.table(tmp_path, made, made_up.HEADER)))
    return path


def order(text: str) -> list[str]:
    return [
        cell.text_content().replace("entity F1", "").strip()
        for cell in parsed(text).xpath("//table[contains(@class, 'scores')]/tbody//th")
    ]


@needs_browser
def test_the_policy_lets_the_tables_own_script_run(page: Path) -> None:
    """A table of which less than half was run begins with what was run."""
    assert order(shown(page)) == ["First", "Third"]


@needs_browser
def test_a_cell_opens_the_runs_behind_it(page: Path) -> None:
    text = re.sub(r"<meta http-equiv=.*?>", "", page.read_text(encoding="utf-8"))
    click = "document.querySelector('.ours a').click();"
    page.write_text(text.replace("</body>", f"<script>{click}</script></body>"), encoding="utf-8")
    assert parsed(shown(page)).xpath("//details[@open]//article[contains(., 'standard/final')]")
