"""On a real GPU, the fast methods of pretraining give what the plain one gives, but for rounding."""

from pathlib import Path

import pytest
import torch

from pubmill.pretraining import engine
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.methods import COMPILED, PLAIN, UNPADDED, Methods
from pubmill.pretraining.packed_tokens import PackedTokens
from tests.gpu.trace_pretraining import RECIPES
from tests.unit.pretraining.toy_pretraining import changed, make_data

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() < (8, 0),
    reason="needs a GPU of compute capability 8.0",
)
STEPS = 3


def losses(name: str, methods: Methods, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Losses of some steps without dropout; the methods must work."""
    monkeypatch.setattr(engine, "fastest", lambda *given: methods)
    recipe, packed = changed(RECIPES[name], architecture={"dropout": 0.0}), PackedTokens(folder / "tokens")
    world = World(torch.device("cuda", 0))
    work = Pretraining(recipe, packed, read_vocabulary(folder, packed.special), world)
    assert work.methods == methods
    return [work.update(step)["loss"] for step in range(STEPS)]


@pytest.mark.parametrize("methods", [UNPADDED, COMPILED])
@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "Megatron", "ALBERT"])
def test_losses_are_those_of_the_plain_method(
    name: str, methods: Methods, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_data(tmp_path)
    expected = losses(name, PLAIN, data, monkeypatch)
    assert losses(name, methods, data, monkeypatch) == pytest.approx(expected, rel=0.02)
