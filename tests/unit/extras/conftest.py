"""Specs that commands of extras load again and again are loaded once."""

from collections.abc import Iterator

import pytest

from tests.unit.toy_studies import loaded


@pytest.fixture(scope="session", autouse=True)
def loaded_by_commands() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in ("inspection.converted_datasets", "extras.board.board_scores"):
            patch.setattr(f"pubmill.{module}.load", loaded)
        yield
