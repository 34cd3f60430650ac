"""Each technique does to an encoder and its updates what it says, and nothing else."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.finetuning.encoders import embeddings, layers, load_encoder, prepare_encoder
from pubmill.finetuning.heads import Layers, TaskModel
from pubmill.finetuning.inputs import Batch
from pubmill.finetuning.weight_updates import GroupedAdam, schedule
from pubmill.recipes import FinetuningRecipe
from tests.unit.finetuning.encoder_families import FAMILIES, LAYERS

CPU = torch.device("cpu")
RECIPE = FinetuningRecipe(
    task="sequence", metric="accuracy", learning_rate=1e-2, batch_size=4, epochs=1, warmup=0.2
)
every_family = pytest.mark.parametrize("family", [family for family in FAMILIES if family != "albert"])
Weights = dict[str, torch.Tensor]


def prepared(folder: Path, seed: int = 1, **settings: Any) -> PreTrainedModel:
    encoder = load_encoder(folder, 0.0, CPU)
    torch.manual_seed(seed)
    prepare_encoder(encoder, replace(RECIPE, **settings))
    return encoder


def weights(module: torch.nn.Module) -> Weights:
    return {name: value.detach().clone() for name, value in module.named_parameters()}


def changed(before: Weights, after: Weights) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name, value in before.items() if not torch.equal(value, after[name])}


def names(encoder: PreTrainedModel, modules: list[torch.nn.Module]) -> set[str]:
    inside = {id(parameter) for module in modules for parameter in module.parameters()}
    return {name for name, parameter in encoder.named_parameters() if id(parameter) in inside}


def batch() -> Batch:
    ids = torch.randint(5, 20, (4, 10), generator=torch.Generator().manual_seed(1))
    places = torch.arange(4) * 10
    inputs = torch.stack([ids, torch.ones_like(ids)])
    return Batch(inputs=inputs, places=places, counts=[1] * 4, groups=None)


def train(model: TaskModel, recipe: FinetuningRecipe, steps: int = 5) -> None:
    optimiser = GroupedAdam(model.train(), recipe)
    for step in range(steps):
        (model(batch()) - 1).square().mean().backward()
        optimiser.schedule(step, steps)
        optimiser.update()


@every_family
@pytest.mark.parametrize("number", [1, LAYERS])
def test_frozen_layers_stay_and_the_others_learn(folders: dict[str, Path], family: str, number: int) -> None:
    recipe = replace(RECIPE, frozen_layers=number, weight_decay=0.1)
    encoder = prepared(folders[family], frozen_layers=number)
    model = TaskModel(encoder, Layers(32, 2, recipe))
    before = weights(encoder)
    train(model, recipe)
    frozen = names(encoder, [*embeddings(encoder), *layers(encoder)[:number]])
    learnt = changed(before, weights(encoder))
    assert frozen and not learnt & frozen
    # Biases of keys change no attention, so nothing teaches them.
    assert all("key" in name for name in before.keys() - frozen - learnt)


@every_family
@pytest.mark.parametrize("number", [1, LAYERS])
def test_reinitialised_layers_begin_anew_and_the_others_stay(
    folders: dict[str, Path], family: str, number: int
) -> None:
    before = weights(load_encoder(folders[family], 0.0, CPU))
    encoder = prepared(folders[family], reinitialised_layers=number)
    top = names(encoder, list(layers(encoder)[LAYERS - number :]))
    matrices = {name for name in top if before[name].ndim > 1}
    # Biases and norms are as they begin in both.
    assert changed(before, weights(encoder)) == matrices
    for name in matrices:
        assert encoder.get_parameter(name).mean().abs() < 0.02 < encoder.get_parameter(name).std() < 0.2
    assert not changed(weights(encoder), weights(prepared(folders[family], reinitialised_layers=number)))
    other = weights(prepared(folders[family], seed=2, reinitialised_layers=number))
    assert changed(weights(encoder), other) == matrices


def test_what_training_made_of_biases_and_norms_is_gone_too(folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders["bert"], 0.0, CPU)
    for parameter in encoder.parameters():
        parameter.data.fill_(3.0)
    prepare_encoder(encoder, replace(RECIPE, reinitialised_layers=1))
    for name, parameter in layers(encoder)[-1].named_parameters():
        if parameter.ndim == 1:
            expected = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            assert (parameter == expected).all(), name
    assert all((parameter == 3.0).all() for parameter in layers(encoder)[-2].parameters())


@every_family
def test_without_top_layers_the_lower_ones_answer(
    folders: dict[str, Path], family: str, tmp_path: Path
) -> None:
    left, further = LAYERS - 2, {}
    encoder = prepared(folders[family], removed_layers=2).eval()
    if getattr(encoder.config, "layer_types", None):
        further["layer_types"] = load_encoder(folders[family], 0.0, CPU).config.layer_types[:left]
    lower = AutoModel.from_pretrained(
        folders[family], num_hidden_layers=left, attn_implementation="eager", **further
    ).eval()
    ids = batch().ids
    with torch.inference_mode():
        expected = lower(input_ids=ids).last_hidden_state
        assert torch.equal(encoder(input_ids=ids).last_hidden_state, expected)
        encoder.save_pretrained(tmp_path)
        again = load_encoder(tmp_path, 0.0, CPU).eval()
        assert len(layers(again)) == again.config.num_hidden_layers == left
        assert torch.equal(again(input_ids=ids).last_hidden_state, expected)


def test_the_top_is_that_of_what_is_left(folders: dict[str, Path]) -> None:
    before = weights(load_encoder(folders["bert"], 0.0, CPU))
    encoder = prepared(folders["bert"], removed_layers=1, reinitialised_layers=1, frozen_layers=1)
    after = weights(encoder)
    anew = changed({name: before[name] for name in after}, after)
    assert anew and all(name.startswith("encoder.layer.1.") for name in anew)
    frozen = {name for name, parameter in encoder.named_parameters() if not parameter.requires_grad}
    assert frozen == {name for name in after if name.startswith(("embeddings.", "encoder.layer.0."))}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"frozen_layers": 1}, "they share weights"),
        ({"removed_layers": 1}, "they share weights"),
        ({"reinitialised_layers": 1}, "they share weights"),
        ({"removed_layers": LAYERS}, "removed_layers is 3, but the encoder has 3 layers"),
        ({"reinitialised_layers": LAYERS + 1}, "reinitialised_layers is 4 .* 3 layers"),
        ({"frozen_layers": LAYERS + 1}, "frozen_layers 4: more than the 3 layers"),
        ({"removed_layers": 2, "frozen_layers": 2}, "more than the 1 layers"),
        ({"reinitialised_layers": 2, "frozen_layers": 2}, "none can be both"),
    ],
)
def test_more_layers_than_there_are_is_an_error(
    folders: dict[str, Path], settings: dict[str, int], message: str
) -> None:
    """And so are layers that share weights, which can't be treated one by one."""
    with pytest.raises(PubmillError, match=message):
        prepared(folders["albert" if message == "they share weights" else "bert"], **settings)


@pytest.mark.parametrize("family", ["bert", "electra", "megatron-bert", "modernbert", "deberta-v2"])
def test_each_layer_learns_slower_than_the_one_above(folders: dict[str, Path], family: str) -> None:
    recipe = replace(RECIPE, layerwise_decay=0.8)
    model = TaskModel(prepared(folders[family]), Layers(32, 2, recipe))
    optimiser = GroupedAdam(model, recipe)
    optimiser.schedule(0, 10)
    of_weight = {one: group["lr"] for group in optimiser.adam.param_groups for one in group["params"]}
    found = {name: of_weight[one] for name, one in model.named_parameters()}
    peak, encoder = recipe.learning_rate * schedule(0, 10, recipe.warmup), model.encoder
    exponents = dict.fromkeys(found, 1) | {name: 0 for name in found if name.startswith("head.")}
    for depth, layer in enumerate(layers(encoder)):
        exponents |= {f"encoder.{name}": LAYERS + 1 - depth for name in names(encoder, [layer])}
    exponents |= {f"encoder.{name}": LAYERS + 2 for name in names(encoder, embeddings(encoder))}
    assert found == pytest.approx({name: peak * 0.8**exponent for name, exponent in exponents.items()})
    further = family in ("megatron-bert", "modernbert")  # a norm that follows the layers
    assert len(set(exponents.values())) == LAYERS + 2 + further


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize(
    ("dtype", "decay", "slowed", "epsilon"),
    [(torch.float64, 0.1, 0.7, 1e-6), (torch.float64, 0.0, 1.0, 1e-8), (torch.float32, 0.1, 1.0, 1e-8)],
)
def test_updates_are_those_of_the_formula(
    folders: dict[str, Path], corrected: bool, dtype: torch.dtype, decay: float, slowed: float, epsilon: float
) -> None:
    """Adam with and without bias correction, step by step; BERT's own is without (Devlin et al. 2019)."""
    recipe = replace(RECIPE, bias_correction=corrected, weight_decay=decay)
    recipe = replace(recipe, layerwise_decay=slowed, adam_epsilon=epsilon)
    model = TaskModel(prepared(folders["bert"]), Layers(32, 2, recipe)).to(dtype)
    place = "encoder.encoder.layer.0.output."
    watched = [f"{place}dense.weight", f"{place}dense.bias"]
    expected = {name: model.get_parameter(name).detach().double().clone() for name in watched}
    optimiser, steps = GroupedAdam(model, recipe), 12
    first, second = ({name: torch.zeros(()) for name in watched} for _ in range(2))
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        for parameter in model.parameters():
            size = 1e-9 if step % 2 else 1e-4  # small ones are where epsilon counts
            parameter.grad = torch.randn(parameter.shape, generator=generator, dtype=dtype) * size
        gradients = {name: model.get_parameter(name).grad.double() for name in watched}  # type: ignore[union-attr]
        rate = 1e-2 * min((step + 1) / 2.4, (12 - step) / 9.6, 1.0) * slowed ** (LAYERS + 1)
        optimiser.schedule(step, steps)
        optimiser.update()
        for name, gradient in gradients.items():
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
            c1, c2 = (1 - 0.9 ** (step + 1), 1 - 0.999 ** (step + 1)) if corrected else (1.0, 1.0)
            update = first[name] / c1 / (torch.sqrt(second[name] / c2) + epsilon)
            wanted = decay if name.endswith("weight") else 0.0
            expected[name] = expected[name] - rate * update - rate * wanted * expected[name]
    tolerance = 1e-12 if dtype == torch.float64 else 3e-6
    for name in watched:
        torch.testing.assert_close(model.get_parameter(name).double(), expected[name], atol=tolerance, rtol=0)


def test_gradients_are_clipped_together_and_gone_after_the_step(folders: dict[str, Path]) -> None:
    model = TaskModel(prepared(folders["bert"], frozen_layers=1), Layers(32, 2, RECIPE))
    optimiser = GroupedAdam(model, replace(RECIPE, max_gradient_norm=1e-3))
    assert all(parameter.requires_grad for parameter in optimiser.parameters)
    (model(batch()) * 100).sum().backward()
    seen: list[float] = []

    def measure(*_: Any) -> None:
        gradients = [one.grad for one in optimiser.parameters if one.grad is not None]
        seen.append(torch.nn.utils.get_total_norm(gradients).item())

    optimiser.adam.register_step_pre_hook(measure)
    optimiser.schedule(0, 10)
    optimiser.update()
    assert seen == [pytest.approx(1e-3, rel=1e-3)]
    assert all(parameter.grad is None for parameter in model.parameters())
