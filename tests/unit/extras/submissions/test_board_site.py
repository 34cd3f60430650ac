"""The site of a board in a browser.

Needs Debian's `chromium` and the packages playwright and axe-playwright-python of the dev extra.
"""

import shutil
from collections.abc import Iterator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tests.unit.extras.submissions import toy_datasets as toy
from tests.unit.extras.submissions.test_board import NEW, TOYS, card, make, submit, wrong

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")

SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
SCRIPT = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board of three submissions, one of which has a script as its label."""
    folder = tmp_path_factory.mktemp("site")
    for dataset, name in TOYS.items():
        toy.make(folder / "results/full", name, dataset)
    board = folder / "board"
    for number, label, share in ((3, "Best", 12), (4, "Second", 3), (5, SCRIPT, 2)):
        text = card(label, cost={"parameters": number, "price": f"{number} EUR"})
        submit(board, f"number-{number}", partial(wrong, share=share), text)
    assert make(board, folder / "results/full", *NEW).returncode == 0
    return board / "site"


def opened(browser: Any, page: Path, size: str = "desk", **options: Any) -> Any:
    made = browser.new_context(viewport=SIZES[size], **options).new_page()
    made.on("pageerror", lambda error: pytest.fail(f"the script failed: {error}"))
    made.on("request", lambda one: one.url.startswith("file:") or pytest.fail(f"a request to {one.url}"))
    made.goto(page.as_uri())
    return made


def labels(page: Any) -> list[str]:
    """The submissions that are shown, in order."""
    rows = page.locator("#submissions tbody tr:not([hidden]) th")
    return [str(text) for text in rows.all_inner_texts()]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["index", "examples-bc2gm"])
def test_pages_fit_and_axe_finds_nothing(browser: Any, site: Path, name: str, size: str) -> None:
    page = opened(browser, site / f"{name}.html", size, bypass_csp=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]] == []


def test_submissions_are_filtered_and_sorted(browser: Any, site: Path) -> None:
    page = opened(browser, site / "index.html")
    assert labels(page) == ["Best", "Second", SCRIPT]
    page.fill("#find", "SEC")
    assert labels(page) == ["Second"]
    page.reload()
    assert labels(page) == ["Second"]
    page.fill("#find", "")
    page.get_by_role("button", name="Parameters").click()
    assert labels(page) == [SCRIPT, "Second", "Best"]


def test_two_are_compared_by_example(browser: Any, site: Path) -> None:
    page = opened(browser, site / "examples-bc2gm.html")
    assert page.inner_text("#counts") == "Both right: 8; only Best: 3; only Second: 0; both wrong: 1."
    assert page.locator("#examples tbody tr").count() == 3
    page.select_option("#which", "00")
    assert page.locator("#examples tbody tr").count() == 1
    page.select_option("#other", label=SCRIPT)
    assert page.inner_text("#head-other") == SCRIPT
