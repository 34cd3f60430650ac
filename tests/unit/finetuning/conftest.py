"""Models and datasets that many tests of fine-tuning need, and that none of them changes."""

import random
from pathlib import Path

import pytest

from pubmill.examples.kinds import KINDS, write_examples
from tests.gpu.finetuning_cases import MAKERS, PIECES
from tests.unit.finetuning import toy_spans
from tests.unit.finetuning.encoder_families import save_encoder, sentence
from tests.unit.tiny_encoders import tiny_bert
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
    """A BERT for the toy tasks."""
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", SYLLABLES)


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Kind of task -> dataset of its toy task."""
    root = tmp_path_factory.mktemp("data")
    return {kind: write_dataset(root / kind, kind) for kind in KINDS}


@pytest.fixture(scope="session")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny models (`bert`, `spans`), and a dataset of each task with texts of several lengths."""
    root, draw = tmp_path_factory.mktemp("cases"), random.Random(1)
    tiny_bert(root / "bert", PIECES)
    toy_spans.make_model(root / "spans")
    for task, make in {**MAKERS, "tokens": lambda draw, name: sentence(draw)}.items():
        for split, number in (("train", 26), ("dev", 4), ("test", 4)):
            examples = [make(draw, str(place)) for place in range(number)]
            write_examples(root / task / f"{split}.jsonl.gz", examples)
    return root


@pytest.fixture(scope="session")
def tokens(toy_data: dict[str, Path]) -> Path:
    """The toy task of entities."""
    return toy_data["tokens"]
