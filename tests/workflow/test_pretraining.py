"""Pretraining recipes through the Snakefile: all are planned, and one of each kind is run to its model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from pubmill import specs
from pubmill.storage.files import read_json
from tests.workflow.conftest import Project, make_project

RESULTS = "results/demo"
RUN = {
    "pubmedelectra-base": "electra",
    "biom-albert-xxlarge@215k": "albert",
    "bio-lm-base@distill-align": "roberta",
}
"""Models to make -> their family: with a generator; with sentence-order prediction, of an earlier checkpoint;
over documents, initialised from a model and distilled from another."""
CONTINUED = "biom-albert-xxlarge@pmc"
MADE = [
    *(f"{RESULTS}/models/{name}/README.md" for name in RUN),
    f"{RESULTS}/pretraining/{CONTINUED}/step-50/state.json",
]


@pytest.fixture(scope="module")
def made(root: Path, world: Path, tmp_path_factory: pytest.TempPathFactory, python: str) -> Project:
    """A project with these models, pretrained on the text of one file."""
    project = replace(make_project(root, world, tmp_path_factory.mktemp("pretrained")), python=python)
    project.edit("config.yaml", "save_minutes: 0", "save_minutes: 10")
    files = "{baseline: [26n0001-26n0002], updatefiles: [26n1335-26n1336]}"
    project.edit("specs/scales/demo.yaml", files, "{baseline: [26n0001]}")
    teacher = "bio-lm-large: {recipe: {architecture: {"
    project.edit("specs/scales/demo.yaml", teacher, f"{teacher}layers: 4, ")  # of 24
    project.run("--", *MADE)
    return project


def state(made: Project, recipe: str, step: int) -> dict[str, Any]:
    found: dict[str, Any] = read_json(made.folder / f"{RESULTS}/pretraining/{recipe}/step-{step}/state.json")
    return found


def test_every_recipe_is_planned_up_to_its_last_checkpoint(project: Project) -> None:
    recipes = specs.load(project.folder / "specs", "demo").pretraining
    last = [
        f"{RESULTS}/pretraining/{name}/step-{spec.recipe.steps}/state.json" for name, spec in recipes.items()
    ]
    jobs = project.planned("--", *last)
    assert jobs["pack"] == len({(spec.corpus, spec.vocab) for spec in recipes.values()})
    assert jobs["pretrain"] == sum(len(spec.checkpoints) for spec in recipes.values())


@pytest.mark.long
@pytest.mark.parametrize("name", RUN)
def test_a_recipe_makes_a_model_that_loads(made: Project, name: str) -> None:
    folder = made.folder / f"{RESULTS}/models/{name}"
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert model.config.model_type == RUN[name]
    assert model.config.vocab_size == len(tokenizer)
    with torch.no_grad():
        vectors = model(**tokenizer("a protein", return_tensors="pt")).last_hidden_state
    assert vectors.shape[-1] == model.config.hidden_size and torch.isfinite(vectors).all()


@pytest.mark.long
def test_models_begin_with_checkpoints_and_models_of_other_recipes(made: Project) -> None:
    """A continued one, a distilled one, and one of an earlier checkpoint; nothing is made again."""
    before, after = state(made, "biom-albert-xxlarge", 40), state(made, CONTINUED, 50)
    assert (before["step"], after["step"]) == (40, 50)
    assert after["tokens"] > before["tokens"] and after["inputs"]["other"]
    assert after["recipe"]["optimisation"]["optimiser"] == "lamb"
    found = state(made, "bio-lm-base@distill-align", 40)
    assert found["inputs"]["model"] and found["inputs"]["teacher"] and not found["inputs"]["previous"]
    distilled, earlier = (made.folder / f"{RESULTS}/models/{name}/README.md" for name in list(RUN)[:0:-1])
    card = distilled.read_text()
    assert "| teacher | bio-lm-large |" in card and "| start: model | bio-lm-base |" in card
    assert "| step | 30 |" in earlier.read_text()
    assert made.planned("--", *MADE) == {}
