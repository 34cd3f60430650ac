"""What a loaded ModernBERT must have to be trained further."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.pretraining.architectures import COMPARED, check_config, make_config
from tests.unit.pretraining.toy_objectives import MODERN
from tests.unit.pretraining.toy_pretraining import SPECIAL, changed

OTHERS: dict[str, Any] = {
    "layer_types": ["full_attention"] * 2,
    "rope_parameters": {"full_attention": {"rope_theta": 1.0}},
    "local_attention": 10,
    "hidden_activation": "relu",
    "norm_bias": True,
    "mlp_bias": True,
}


def config(**architecture: Any) -> Any:
    return make_config(changed(MODERN, architecture=architecture).architecture, 30, SPECIAL)


def test_a_model_like_the_recipes_is_taken(tmp_path: Path) -> None:
    check_config(tmp_path, config(), config())


def test_each_layer_of_so_many_sees_the_whole_text() -> None:
    assert MODERN.architecture.rotary is not None and MODERN.architecture.rotary.global_every == 2
    assert config(layers=5).layer_types == [
        "full_attention" if layer in (0, 2, 4) else "sliding_attention" for layer in range(5)
    ]


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_that_computes_otherwise_is_refused(tmp_path: Path, name: str) -> None:
    loaded, wanted = config(), config()
    assert name in COMPARED
    setattr(loaded, name, OTHERS[name])
    with pytest.raises(PubmillError) as caught:
        check_config(tmp_path, loaded, wanted)
    assert str(caught.value) == (
        f"{tmp_path} cannot be trained further by this recipe: its {name} is {OTHERS[name]}, the "
        f"recipe and the vocabulary need {getattr(wanted, name)}"
    )
