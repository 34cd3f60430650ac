"""`pubmill results page`: the page and the figures beside it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.unit.cli.conftest import Said


def test_a_figure_of_each_table_that_has_one_is_beside_the_page(
    started: Said, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = SimpleNamespace(
        report=SimpleNamespace(results=lambda: "files"), results="x", study=SimpleNamespace(local_files={})
    )
    tables = [SimpleNamespace(name="one", figure="<svg/>"), SimpleNamespace(name="two", figure="")]
    result = SimpleNamespace(tables=tables, figure_file=lambda table: f"x-{table.name}.svg")
    command, page = "pubmill.cli.results_page_command", "pubmill.report.results_page"
    monkeypatch.setattr(f"{command}.configured_graph", lambda *_: graph)
    monkeypatch.setattr(f"{page}.read_result", lambda *_: result)
    monkeypatch.setattr(f"{page}.render", lambda shown, folder: f"{len(shown)} studies, figures in {folder}")
    started("results", "page", "gu2020", "demo", "--output", "out/mine.md")
    assert Path("out/mine.md").read_text(encoding="utf-8") == "2 studies, figures in mine"
    assert {one.name: one.read_text() for one in Path("out/mine").iterdir()} == {"x-one.svg": "<svg/>"}
