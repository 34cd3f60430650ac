"""Distillation: losses, teachers and students; and a model whose weights a pretraining starts from."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from transformers import AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.pretraining.engine import build_learner
from pubmill.pretraining.learners import Learner
from pubmill.recipes import Distillation, PretrainingRecipe
from tests.unit.pretraining.toy_objectives import DISTILLED, learner, make_teacher, part_of
from tests.unit.pretraining.toy_pretraining import SPECIAL, changed, log, losses, pretrain, state, weights

EVERYWHERE = changed(DISTILLED, objective={"distillation": Distillation(positions="all", temperature=3.0)})


@pytest.fixture(scope="module")
def teacher(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_teacher(data, tmp_path_factory.mktemp("teacher"), 40)


@pytest.mark.parametrize(
    "recipe",
    [pytest.param(DISTILLED, id="masked"), pytest.param(EVERYWHERE, id="all", marks=pytest.mark.long)],
)
def test_a_student_comes_to_predict_as_its_teacher(
    data: Path, teacher: Path, tmp_path: Path, recipe: PretrainingRecipe
) -> None:
    made = pretrain(data, tmp_path / "step-40", 40, recipe=recipe, teacher=teacher)
    first, *_, last = log(made)
    assert last["kl_loss"] < 0.7 * first["kl_loss"] and last["cosine_loss"] < 0.7 * first["cosine_loss"]
    expected = 5 * last["mlm_loss"] + 2 * last["kl_loss"] + last["cosine_loss"]
    assert last["loss"] == pytest.approx(expected)
    assert state(made)["inputs"]["teacher"]
    half = pretrain(data, tmp_path / "half", 20, recipe=recipe, teacher=teacher)
    assert weights(pretrain(data, tmp_path / "x", 40, half, recipe, teacher=teacher)) == weights(made)


@pytest.mark.parametrize("recipe", [DISTILLED, EVERYWHERE], ids=["masked", "all"])
def test_distillation_losses_are_those_of_the_definition(
    data: Path, teacher: Path, recipe: PretrainingRecipe
) -> None:
    made, part = learner(recipe, teacher), part_of(data, recipe)
    heat = recipe.objective.distillation.temperature if recipe.objective.distillation else 0.0
    found, places = made(part), part.rows[len(part.pair_labels) :]
    plain = Learner.forward(made, part)
    torch.testing.assert_close(found["mlm_loss"], plain["mlm_loss"], atol=1e-4, rtol=1e-5)
    assert found["mlm_correct"] == plain["mlm_correct"]
    if recipe is EVERYWHERE:
        places = (part.ids != SPECIAL["pad"]).flatten().nonzero().flatten()
        assert len(places) > 3 * len(part.labels)
    given = {"input_ids": part.ids, "token_type_ids": part.segments}
    given["attention_mask"] = (part.ids != SPECIAL["pad"]).long()
    theirs = AutoModelForMaskedLM.from_pretrained(teacher).eval()(**given, output_hidden_states=True)
    ours = made.model(**given, output_hidden_states=True)
    p = (theirs.logits.flatten(0, 1)[places] / heat).softmax(-1)
    q = (ours.logits.flatten(0, 1)[places] / heat).softmax(-1)
    torch.testing.assert_close(found["kl_loss"], heat**2 * (p * (p / q).log()).sum(), atol=1e-4, rtol=1e-4)
    left = made.projection(ours.hidden_states[-1].flatten(0, 1)[places])
    apart = 1 - F.cosine_similarity(left, theirs.hidden_states[-1].flatten(0, 1)[places], dim=-1)
    torch.testing.assert_close(found["cosine_loss"], apart.sum(), atol=1e-4, rtol=1e-4)


def test_a_teacher_is_neither_trained_nor_saved(data: Path, teacher: Path) -> None:
    made = learner(DISTILLED, teacher)
    own = [name for name, _ in made.named_parameters() if not name.startswith("model.")]
    assert own == ["projection.weight", "projection.bias"]
    assert not any(weight.requires_grad for weight in made.teacher.parameters())
    moved = made.to("meta")
    assert {weight.device.type for weight in (*moved.teacher.parameters(), *moved.parameters())} == {"meta"}


def test_a_distillation_without_a_teacher_or_with_another_vocabulary_is_refused(
    data: Path, teacher: Path, tmp_path: Path
) -> None:
    with pytest.raises(PubmillError, match="needs --teacher"):
        pretrain(data, tmp_path / "s", 4, recipe=DISTILLED)
    with pytest.raises(PubmillError, match="the teacher has a vocabulary of 30, the student 31"):
        build_learner(DISTILLED, 31, SPECIAL, None, teacher)


def test_weights_of_a_model_are_begun_with(data: Path, teacher: Path, tmp_path: Path) -> None:
    recipe = changed(architecture={"hidden_size": 32}, objective={"pairs": "none"}, steps=1)
    fresh, begun = (
        losses(pretrain(data, tmp_path / name, 1, recipe=recipe, **more))[0]
        for name, more in (("fresh", {}), ("begun", {"model": teacher}))
    )
    assert begun < 0.8 * fresh


def test_without_the_cosine_there_is_no_projection_to_learn(data: Path, teacher: Path) -> None:
    recipe = changed(DISTILLED, objective={"distillation": Distillation(cosine=0.0)})
    made, part = learner(recipe, teacher), part_of(data, recipe)
    assert all(name.startswith("model.") for name, _ in made.named_parameters())
    found = made(part)
    assert "cosine_loss" not in found and {term.name for term in made.terms} == {"mlm", "kl"}
    whole = learner(DISTILLED, teacher)(part)
    torch.testing.assert_close(found["kl_loss"], whole["kl_loss"])
