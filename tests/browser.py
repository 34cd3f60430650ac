"""Chromium for tests of pages.

Needs Debian's `chromium`, and the packages playwright and axe-playwright-python of the dev extra.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


@contextmanager
def launched(playwright: Any) -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def opened(browser: Any, address: str, size: str = "desk", **options: Any) -> Any:
    """Return a page, whose script must not fail."""
    page = browser.new_context(viewport=SIZES[size], **options).new_page()
    page.on("pageerror", lambda error: pytest.fail(f"the script failed: {error}"))
    page.goto(address)
    return page


def violations(page: Any) -> list[str]:
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]
