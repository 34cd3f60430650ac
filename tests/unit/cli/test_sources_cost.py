"""`pubmill sources cost`."""

from pathlib import Path

import pytest

from pubmill.cli.sources_cost_command import cost


def test_a_corpus_without_pubmed_has_nothing_to_cost(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cost("general-text")
    assert capsys.readouterr().out == "general-text has no source of kind pubmed\n"
