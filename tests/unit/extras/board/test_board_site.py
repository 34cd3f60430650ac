"""The site of a board in a browser.

Needs Debian's `chromium` and the packages playwright and axe-playwright-python of the dev extra.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.browser import SIZES, launched, needs_chromium, opened, violations
from tests.unit.extras.board.test_board import NEW, TOYS, card, make, submit, wrong
from tests.unit.predictions import toy_datasets as toy

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
pytestmark = needs_chromium

SCRIPT = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched(playwright) as made:
        yield made


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


def labels(page: Any) -> list[str]:
    rows = page.locator("#submissions tbody tr:not([hidden]) th")
    return [str(text) for text in rows.all_inner_texts()]


@pytest.mark.parametrize("size", SIZES)
def test_pages_fit_ask_no_other_host_and_axe_finds_nothing(browser: Any, site: Path, size: str) -> None:
    for name in ("index", "examples-bc2gm"):
        asked: list[str] = []
        page = opened(browser, (site / f"{name}.html").as_uri(), size, bypass_csp=True)
        page.on("request", lambda one, asked=asked: asked.append(one.url))
        page.reload()
        assert asked and all(one.startswith("file:") for one in asked)
        assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size]["width"]
        assert violations(page) == []


def test_submissions_are_filtered_and_sorted(browser: Any, site: Path) -> None:
    page = opened(browser, (site / "index.html").as_uri())
    assert labels(page) == ["Best", "Second", SCRIPT]
    page.fill("#find", "SEC")
    assert labels(page) == ["Second"]
    page.reload()
    assert labels(page) == ["Second"]
    page.fill("#find", "")
    page.get_by_role("button", name="Parameters").click()
    assert labels(page) == [SCRIPT, "Second", "Best"]


def test_two_are_compared_by_example(browser: Any, site: Path) -> None:
    page = opened(browser, (site / "examples-bc2gm.html").as_uri())
    assert page.inner_text("#counts") == "Both right: 8; only Best: 3; only Second: 0; both wrong: 1."
    assert page.locator("#examples tbody tr").count() == 3
    page.select_option("#which", "00")
    assert page.locator("#examples tbody tr").count() == 1
    page.select_option("#other", label=SCRIPT)
    assert page.inner_text("#head-other") == SCRIPT
