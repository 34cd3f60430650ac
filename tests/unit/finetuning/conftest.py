"""Models and datasets that many tests of fine-tuning need, and that none of them changes."""

from pathlib import Path

import pytest

from pubmill.examples.kinds import KINDS
from tests.unit.finetuning.encoder_families import save_encoder
from tests.unit.tiny_encoders import tiny_bert, tiny_roberta
from tests.unit.toy_tasks import SYLLABLES, write_dataset


class Folders(dict[str, Path]):
    """Architecture -> folder of a tiny encoder, which is made when it is asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root

    def __missing__(self, family: str) -> Path:
        self[family] = save_encoder(self.root / family, family)
        return self[family]


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return Folders(tmp_path_factory.mktemp("encoders"))


@pytest.fixture(scope="session")
def bert(folders: dict[str, Path]) -> Path:
    return folders["bert"]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", SYLLABLES)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny model of each of two families, of which the BERT knows more than the syllables."""
    folder = tmp_path_factory.mktemp("models")
    further = "ine long mab gene drug cell aspirin hurts pain @ $ - *".split()
    bert = tiny_bert(folder / "bert", [*SYLLABLES, *further])
    return {"bert": bert, "roberta": tiny_roberta(folder / "roberta")}


@pytest.fixture(scope="session")
def model(models: dict[str, Path]) -> Path:
    return models["bert"]


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("data")
    return {kind: write_dataset(root / kind, kind) for kind in KINDS}


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few examples of each toy task, and a BERT."""
    root = tmp_path_factory.mktemp("cases")
    tiny_bert(root / "bert", SYLLABLES)
    for kind in KINDS:
        write_dataset(root / kind, kind, train=26)
    return root


@pytest.fixture(scope="session")
def tokens(toy_data: dict[str, Path]) -> Path:
    return toy_data["tokens"]
