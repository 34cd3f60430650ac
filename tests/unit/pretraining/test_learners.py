"""Every objective on every family: it learns, segments make a whole, and the losses are what they say."""

import json
from dataclasses import is_dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoModelForMaskedLM

from pubmill.errors import PubmillError
from pubmill.pretraining.arithmetic import operations_of_step
from pubmill.pretraining.engine import Pretraining, build_learner
from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.learners import Learner, ReplacedTokenDetection, sample
from pubmill.recipes import Adversarial, Distillation, Objective, PretrainingRecipe
from pubmill.recipes.objectives import OBJECTIVES, ObjectiveKind, Pass, Term, kind_of, terms_of
from tests.unit.pretraining.toy_interrupts import WEEKLY
from tests.unit.pretraining.toy_objectives import DISTILLED, ELECTRA, RECIPES, learner, make_teacher, part_of
from tests.unit.pretraining.toy_pretraining import (
    RECIPE,
    SPECIAL,
    changed,
    log,
    losses,
    pretrain,
    state,
    weights,
)


@pytest.fixture(scope="module")
def teacher(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_teacher(data, tmp_path_factory.mktemp("teacher"), 40)


@pytest.mark.parametrize("name", [*RECIPES, "distillation"])
def test_two_segments_are_one(name: str, data: Path, teacher: Path, tmp_path: Path) -> None:
    recipe = changed(RECIPES.get(name, DISTILLED), steps=6)
    given = teacher if recipe.objective.distillation else None
    whole = pretrain(data, tmp_path / "whole/step-6", 6, recipe=recipe, teacher=given)
    half = pretrain(data, tmp_path / "step-3", 3, recipe=recipe, teacher=given)
    rest = pretrain(data, tmp_path / "step-6", 6, half, recipe=recipe, teacher=given)
    assert (state(whole)["inputs"]["teacher"] is None) == (given is None)
    assert weights(rest) == weights(whole) and losses(rest) == losses(whole)
    assert len(set(losses(rest))) == 6 and all(map(np.isfinite, losses(rest)))
    AutoModel.from_pretrained(rest)


QUICK = ("ELECTRA", "whole words, next sentence")
SLOW = [name for name in RECIPES if name not in (*QUICK, "recomputed", "a rising rate")]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=WEEKLY) for name in SLOW)])
def test_it_learns(name: str, data: Path, tmp_path: Path) -> None:
    recipe = changed(RECIPES[name], steps=150, batch_size=16)
    made = pretrain(data, tmp_path / "s", 150, recipe=recipe)
    first, *_, last = log(made)
    loss = "clm_loss" if name == "causal" else "mlm_loss"
    assert last[loss] < 0.8 * first[loss]
    # what is held out was trained on here, and has the same documents
    for masking, judged in state(made)["held_out"].items():
        assert judged[loss] < 0.9 * first[loss], masking
        assert (judged["masked"] > 3) == (name != "causal")


def test_sums_over_micro_batches_are_transformers_losses(data: Path) -> None:
    made, part = learner(RECIPE), part_of(data)
    found = made(part)
    labels = torch.full_like(part.ids.flatten(), UNLABELLED)
    labels[part.rows[len(part.pair_labels) :]] = part.labels
    theirs = made.model(
        input_ids=part.ids, token_type_ids=part.segments,
        attention_mask=part.mask.long() if isinstance(part.mask, torch.Tensor) else None,
        labels=labels.view_as(part.ids), next_sentence_label=part.pair_labels,
    )  # fmt: skip
    pairs = (part.pair_labels != UNLABELLED).sum()
    ours = found["mlm_loss"] / len(part.labels) + found["nsp_loss"] / pairs
    torch.testing.assert_close(ours, theirs.loss, atol=1e-5, rtol=1e-5)


def test_electra_tells_tokens_that_the_generator_got_wrong(data: Path, monkeypatch: Any) -> None:
    made, part = learner(ELECTRA), part_of(data, ELECTRA)
    assert isinstance(made, ReplacedTokenDetection)
    drawn = part.labels.clone()
    drawn[0] = (drawn[0] + 1 - 5) % 20 + 5  # one guess is wrong
    monkeypatch.setattr("pubmill.pretraining.learners.sample", lambda logits: drawn)
    found = made(part)
    place, ids = part.rows[len(part.pair_labels)], part.ids.flatten().clone()
    ids[part.rows[len(part.pair_labels) :]] = drawn
    assert isinstance(part.mask, torch.Tensor)
    logits = made.model(
        input_ids=ids.view_as(part.ids), token_type_ids=part.segments, attention_mask=part.mask.long()
    ).logits.flatten()
    right = torch.zeros_like(logits)
    right[place] = 1.0
    expected = F.binary_cross_entropy_with_logits(logits[part.present], right[part.present], reduction="sum")
    torch.testing.assert_close(found["rtd_loss"], expected, atol=1e-4, rtol=1e-5)
    assert found["rtd_correct"] == ((logits > 0) == right.bool())[part.present].sum()


def test_samples_follow_the_softmax() -> None:
    """Within six standard deviations, which fewer than one seed in 10^8 exceeds."""
    torch.manual_seed(1)
    chances, count = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64), 200_000
    drawn = torch.bincount(sample(chances.log().expand(count, 3)), minlength=3)
    assert ((drawn - count * chances).abs() < 6 * (count * chances * (1 - chances)).sqrt()).all()


def test_adversarial_loss_is_not_that_of_other_dropout(data: Path) -> None:
    """With next to no noise the predictions are the same, although units are dropped."""
    made = learner(changed(objective={"adversarial": Adversarial(radius=1e-6)})).train()
    torch.manual_seed(1)
    assert 0 <= made(part_of(data))["adversarial_loss"] < 1e-4
    assert not made.evaluate(part_of(data)).keys() & {"adversarial_loss"}


def test_another_recipes_checkpoint_is_gone_on_with(data: Path, tmp_path: Path) -> None:
    first = pretrain(data, tmp_path / "step-4", 4)
    longer = changed(steps=60, optimisation={"learning_rate": 5e-3})
    made = pretrain(data, tmp_path / "step-6", 6, recipe=longer, other=first)
    assert state(made)["step"] == 6 and len(log(made)) == 6 and state(made)["inputs"]["other"]
    with pytest.raises(PubmillError, match="at step 4 already, --to is 3"):
        pretrain(data, tmp_path / "y", 3, recipe=longer, other=first)


def test_a_loss_that_rises_stops_and_the_good_save_stays(
    data: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    update, output = Pretraining.update, tmp_path / "step-40"

    def rise(self: Pretraining, step: int) -> dict[str, float]:
        sums = update(self, step)
        return sums | {"mlm_loss": sums["mlm_loss"] * (1.0 if step < 20 else 1.0 + 0.5 * (step - 19))}

    monkeypatch.setattr(Pretraining, "update", rise)
    with pytest.raises(PubmillError, match=r"loss of masked tokens has risen from .*Last good save") as error:
        pretrain(data, output, 40, save_minutes=0)
    saved = Path(str(error.value).split("Last good save: ")[1].split(". Lower")[0])
    stood = json.loads((saved / "state.json").read_text())
    assert stood["average"] <= stood["lowest"] + 0.5 and 20 <= stood["step"] < 40


def test_every_part_of_an_objective_is_registered() -> None:
    """A field of the recipe that nothing computes would be ignored in silence."""
    types = get_type_hints(Objective).items()
    assert {name for name, type_ in types if any(map(is_dataclass, get_args(type_)))} == OBJECTIVES.keys()
    assert all(find_spec(kind.learner.partition(":")[0]) for kind in OBJECTIVES.values())


@pytest.mark.parametrize("name", [*RECIPES, "distillation"])
def test_a_learner_sums_the_registered_terms_and_has_the_registered_weights(
    name: str, data: Path, teacher: Path
) -> None:
    """Each term has its loss, and an accuracy only where its answers are right or wrong; each weight has a
    gradient: processes that wait for each other's would else wait for ever. A checkpoint that holds weights
    of an objective is resumed only with the same objective."""
    recipe = RECIPES.get(name, DISTILLED)
    made = learner(recipe, teacher if name == "distillation" else None)
    found = made(part_of(data, recipe))
    assert made.terms == terms_of(recipe.objective)
    assert made.terms[0].name == ("clm" if name == "causal" else "mlm")
    names = [f"{term.name}_loss" for term in made.terms]
    names += [f"{term.name}_correct" for term in made.terms if term.chooses]
    assert sorted(found) == sorted(names)
    sum(term.weight * found[f"{term.name}_loss"] for term in made.terms).backward()
    assert all(weight.grad is not None for weight in made.parameters() if weight.requires_grad)
    own = {id(weight) for weight in made.parameters()} - {id(weight) for weight in made.model.parameters()}
    assert kind_of(recipe.objective).adds_weights == bool(own)


def test_a_registered_objective_is_trained_logged_and_planned(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registration is all it takes: the engine, the log and the planner know nothing of objectives."""

    class Halved(ObjectiveKind):
        passes = (Pass("model", 2.0),)

        def terms(self, pairs: tuple[Term, ...]) -> tuple[Term, ...]:
            return Term("mlm", 0.5, "masked"), *pairs

    plain = operations_of_step(RECIPE, 31)
    monkeypatch.setattr("pubmill.recipes.objectives.MASKED_LM", Halved())
    first = log(pretrain(data, tmp_path / "step-4", 4, recipe=changed(steps=4)))[0]
    assert first["loss"] == pytest.approx(0.5 * first["mlm_loss"] + first["nsp_loss"])
    assert "mlm_accuracy" not in first and "nsp_accuracy" in first
    assert operations_of_step(RECIPE, 31) == 2 * plain


EVERYWHERE = changed(DISTILLED, objective={"distillation": Distillation(positions="all", temperature=3.0)})


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
    fresh, started = (
        losses(pretrain(data, tmp_path / name, 1, recipe=recipe, **more))[0]
        for name, more in (("fresh", {}), ("begun", {"model": teacher}))
    )
    assert started < 0.8 * fresh


def test_without_the_cosine_there_is_no_projection_to_learn(data: Path, teacher: Path) -> None:
    recipe = changed(DISTILLED, objective={"distillation": Distillation(cosine=0.0)})
    made, part = learner(recipe, teacher), part_of(data, recipe)
    assert all(name.startswith("model.") for name, _ in made.named_parameters())
    found = made(part)
    assert "cosine_loss" not in found and {term.name for term in made.terms} == {"mlm", "kl"}
    whole = learner(DISTILLED, teacher)(part)
    torch.testing.assert_close(found["kl_loss"], whole["kl_loss"])
