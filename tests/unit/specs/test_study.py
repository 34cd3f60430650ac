"""Studies: those of the papers have all tables of their paper; models that a study pretrains itself."""

from pathlib import Path

import pytest
import yaml

from pubmill.errors import PubmillError
from pubmill.graph import Graph, checked_graph
from pubmill.recipes.models import PretrainedWeights
from pubmill.specs.study import check_study

PAPERS = sorted(path.name for path in (Path(__file__).parents[3] / "specs/tables").iterdir())


@pytest.mark.parametrize("paper", PAPERS)
def test_the_study_of_a_paper_has_all_its_tables(root: Path, paper: str) -> None:
    tables = sorted(f"{paper}/{path.stem}" for path in (root / f"specs/tables/{paper}").glob("*.yaml"))
    study = yaml.safe_load((root / f"studies/{paper}.yaml").read_text())
    assert study["tables"] == tables and len(tables) > 3


def study(root: Path, *pretrain: str) -> Graph:
    config = {"study": "x", "title": "x", "scale": "full", "tables": ["tinn2021/table02"]}
    return checked_graph(*check_study({**config, "pretrain": list(pretrain)}, root / "specs"))


def test_a_study_may_pretrain_what_was_released(root: Path) -> None:
    before, after = study(root), study(root, "pubmedelectra-base")
    assert before.models.weights("pubmedelectra-base").kind == "hub"
    own = PretrainedWeights(recipe="pubmedelectra-base", step=62_500)
    assert after.models.weights("pubmedelectra-base") == own
    assert set(after.scope.pretrainings()) - set(before.scope.pretrainings()) == {"pubmedelectra-base"}
    for name, problem in (("biobert-base", "no recipe makes the weights of biobert-base"), ("x", "x")):
        with pytest.raises(PubmillError, match=f"configuration: pretrain: .*{problem}"):
            study(root, name)
