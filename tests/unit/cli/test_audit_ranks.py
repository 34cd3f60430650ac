"""`pubmill audit ranks`: the ranks by published values, then those by runs."""

from types import SimpleNamespace

import pytest

from pubmill.tables import cells, ranks, reproductions
from tests.unit.cli.conftest import Said


@pytest.mark.parametrize("why", ["", "too few rows"])
def test_ranks_by_runs_follow_where_results_are_named(
    started: Said, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    audited = SimpleNamespace(all=lambda: [SimpleNamespace(name="p/table01")])
    graph = SimpleNamespace(audited_tables=audited)
    monkeypatch.setattr("pubmill.stages.study_graph.graph_of_all_tables", lambda _: graph)
    monkeypatch.setattr(cells, "read_table", str)
    monkeypatch.setattr(ranks, "rankings_of", lambda *_: (["published 1", "published 2"], why))
    monkeypatch.setattr(ranks, "rankings_of_runs", lambda _, made, __: ([f"of {made}"], why))
    monkeypatch.setattr(ranks, "as_text", lambda ranking: f"ranking {ranking}")
    monkeypatch.setattr(reproductions, "reproductions_as_text", lambda found: f"reproduced {found}")
    monkeypatch.setattr(reproductions, "reproductions", lambda made: made)
    left = [f"not ranked: {why}"] if why else []
    published = ["By the published values", "ranking published 1", "ranking published 2", *left]
    said = started("audit", "ranks", "p/table01").rstrip("\n")
    assert said.split("\n\n") == published
    file = "there/tables/p/table01.json"
    by_runs = ["By the runs", f"ranking of {file}", *left]
    said = started("audit", "ranks", "p/table01", "--results", "there").rstrip("\n")
    reproduced = ["Reproduction: CV* of {published, ours}", f"reproduced {file}"]
    assert said.split("\n\n") == [*published, *by_runs, *reproduced]
    assert "there is no table of results 'p/table02'" in started("audit", "ranks", "p/table02")
