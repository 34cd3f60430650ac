"""What a loaded ModernBERT must have to be trained further."""

from pathlib import Path
from typing import Any

import pytest
from transformers import ModernBertConfig

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import BIASES, COMPARED, check_rotary, rotary_config
from tests.unit.pretraining.toy_objectives import MODERN
from tests.unit.pretraining.toy_pretraining import SPECIAL, changed

OTHERS: dict[str, Any] = {
    "layer_types": ["full_attention"] * 2,
    "rope_parameters": {"full_attention": {"rope_theta": 1.0}},
    "local_attention": 10,
    "hidden_activation": "relu",
}


def config(**architecture: Any) -> ModernBertConfig:
    return rotary_config(changed(MODERN, architecture=architecture).architecture, 30, SPECIAL)


def test_a_model_like_the_recipes_is_taken(tmp_path: Path) -> None:
    check_rotary(tmp_path, config(), config())


def test_each_layer_of_so_many_sees_the_whole_text() -> None:
    assert MODERN.architecture.rotary is not None and MODERN.architecture.rotary.global_every == 2
    assert config(layers=5).layer_types == [
        "full_attention" if layer in (0, 2, 4) else "sliding_attention" for layer in range(5)
    ]


@pytest.mark.parametrize("name", COMPARED)
def test_a_model_that_computes_otherwise_is_refused(tmp_path: Path, name: str) -> None:
    loaded, wanted = config(), config()
    setattr(loaded, name, OTHERS[name])
    with pytest.raises(PubmillError) as caught:
        check_rotary(tmp_path, loaded, wanted)
    assert str(caught.value) == (
        f"{tmp_path} cannot be trained further by this recipe: its {name} is {OTHERS[name]}, "
        f"the recipe needs {getattr(wanted, name)}"
    )


@pytest.mark.parametrize("names", [BIASES[:1], BIASES[1:3]])
def test_a_model_with_biases_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    loaded = config()
    for name in names:
        setattr(loaded, name, True)
    with pytest.raises(PubmillError) as caught:
        check_rotary(tmp_path, loaded, config())
    assert str(caught.value) == f"{tmp_path} has biases ({', '.join(names)}), which are not pretrained here"
