"""Studies: those of the papers have all tables of their paper."""

from pathlib import Path

import pytest
import yaml

PAPERS = sorted(path.name for path in (Path(__file__).parents[3] / "specs/tables").iterdir())


@pytest.mark.parametrize("paper", PAPERS)
def test_the_study_of_a_paper_has_all_its_tables(root: Path, paper: str) -> None:
    tables = sorted(f"{paper}/{path.stem}" for path in (root / f"specs/tables/{paper}").glob("*.yaml"))
    study = yaml.safe_load((root / f"studies/{paper}.yaml").read_text())
    assert study["tables"] == tables and len(tables) > 3
