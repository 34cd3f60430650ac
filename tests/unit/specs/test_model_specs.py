"""Specs of models: the forms of released weights, and which models have them."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.specs import ArchiveWeights, HubWeights, ModelSpec, RecipeWeights, Specs
from pubmill.specs.model_specs import PLAIN, PromptSpec
from pubmill.specs.study import check_study
from pubmill.stages import checked_graph

PAPERS = ["gu2020", "tinn2021", "lewis2020", "shin2020", "alrowili2021"]
UNPINNED = {
    "biobert-large", "bioclinical-modernbert-base@bio", "bioformer-16l", "bluebert-large",
    "biom-bert-large", "biom-bert-large@uncased", "clinical-modernbert",
    "ettin-17m", "ettin-32m", "ettin-68m", "ettin-400m", "ettin-1b", "modernbert-bio-large",
}  # fmt: skip
"""Models on the hub of which no commit is known."""
PRETRAINED = {
    "gu2020": {
        "pubmedbert-base@adversarial", "pubmedbert-base@general-vocabulary",
        "pubmedbert-base@general-vocabulary-subword", "pubmedbert-base@pmc",
        "pubmedbert-base@subword-masking",
    },
    "tinn2021": {"pubmedbert-base@no-nsp", "pubmedbert-base@no-nsp-single"},
    "lewis2020": set(),
    "shin2020": {
        "biomegatron-345m@bert-uncased", "biomegatron-345m@bio-30k", "biomegatron-345m@bio-50k",
        "biomegatron-800m@bert-cased", "biomegatron-800m@bert-uncased",
    },
    "alrowili2021": {
        "biom-albert-xxlarge@215k", "biom-bert-large@100k", "biom-bert-large@400k",
        "biomegatron-345m@bert-uncased", "biomegatron-345m@bio-50k",
    },
}  # fmt: skip
"""Paper -> models that a study of its tables pretrains at full scale, without files of the user's own."""


RELEASED = {"id": "bert", "revision": None}
SYSTEM = {"name": "ours", "version": "1", "url": "https://example.org"}
PREDICTIONS = {"kind": "predictions", "local": "mine", "system": SYSTEM}
PROMPTED = {
    "kind": "prompted", "system": SYSTEM, "server": "http://localhost:8000/v1", "model": "m",
    "datasets": ["x"],
}  # fmt: skip


RECIPE = {"kind": "random", "recipe": "r"}
WRONG: dict[str, Any] = {
    "shots": -1, "temperature": -0.1, "length": 0, "at_once": 0, "seeds": [], "datasets": [], "model": "",
    "server": "https://me@example.org",
}  # fmt: skip
"""Values with which no server can be asked."""


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({}, "a model needs `weights`, `released`, or both"),
        ({"weights": RECIPE}, None),
        ({"released": RELEASED}, None),
        ({"weights": RECIPE, "released": RELEASED}, None),
        ({"weights": {"kind": "pretraining", "recipe": "r", "step": 5}}, None),
        ({"weights": RECIPE | {"step": 5}}, "random weights have no step; remove"),
        ({"weights": PREDICTIONS, "released": RELEASED}, "a supplied prediction is not fine-tuned"),
        *(({"weights": PROMPTED | {key: one}}, rf"weights\.prompted\.{key}") for key, one in WRONG.items()),
    ],
)  # fmt: skip
def test_a_model_has_weights_of_its_own_or_released_ones(values: dict[str, Any], fault: str | None) -> None:
    given = {"name": "x", "lowercase": True, **values}
    if fault is None:
        assert ModelSpec.model_validate(given).is_fine_tuned
    else:
        with pytest.raises(ValidationError, match=fault):
            ModelSpec.model_validate(given)


def test_what_is_not_pinned_is_known(full_specs: Specs) -> None:
    released = {name: spec.released for name, spec in full_specs.models.items()}
    hub = {name: one for name, one in released.items() if isinstance(one, HubWeights)}
    archives = {name: one for name, one in released.items() if isinstance(one, ArchiveWeights)}
    assert {name for name, one in hub.items() if one.revision is None} == UNPINNED
    assert len(archives) == 9 and all(name.startswith("bio-lm-") for name in archives)
    assert len({one.url for one in archives.values()}) == 9


@pytest.mark.parametrize("paper", PAPERS)
def test_no_table_pretrains_what_was_released(root: Path, paper: str) -> None:
    config = yaml.safe_load((root / f"studies/{paper}.yaml").read_text())
    graph = checked_graph(*check_study(config, root / "specs"))
    kinds = {name: graph.models.weights(name).kind for name in graph.scope.models()}
    assert {name for name, kind in kinds.items() if kind == "pretraining"} == PRETRAINED[paper]
    for name, spec in graph.specs.models.items():
        if spec.released:
            assert graph.models.weights(name).kind in ("hub", "archive")


def test_released_models_are_made_here_at_lower_scales(demo_specs: Specs) -> None:
    """Tables of results at the scale of the demo fetch no weights that a recipe of ours makes."""
    for name, spec in demo_specs.models.items():
        if isinstance(spec.weights, RecipeWeights):
            assert spec.preferred(released=False) is spec.weights, name


def test_the_prompt_for_a_dataset_precedes_that_of_its_task() -> None:
    prompts = PromptSpec(name="own", citation="none", templates={"ner": "{words}", "bc2gm": "Genes: {words}"})
    assert prompts.template("bc2gm", "ner") == "Genes: {words}"
    assert prompts.template("jnlpba", "ner") == "{words}"
    with pytest.raises(PubmillError, match=r"specs/prompts/own\.yaml has no template for biosses or sim"):
        prompts.template("biosses", "similarity")


def test_published_prompts_are_files_with_a_hash(full_specs: Specs) -> None:
    published = full_specs.prompts["chen2025"]
    [hoc] = [one for one in published.published() if "Hoc" in one.url]
    assert published.template("hoc@blurb", "classification") == hoc
    assert hoc.url.endswith("/benchmarks/%5BMLC%5DHoc/prompt_zeroshot.txt")
    with pytest.raises(PubmillError, match=r"chen2025\.yaml has no template for bc2gm or ner"):
        published.template("bc2gm", "ner")


def test_every_dataset_has_a_plain_prompt(full_specs: Specs) -> None:
    for name, spec in full_specs.datasets.items():
        assert full_specs.prompts[PLAIN].template(name, spec.task)
