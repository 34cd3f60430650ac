"""Recipes of pretraining: all of them at every scale, and what they begin with and learn from."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill import recipes, specs
from pubmill.errors import PubmillError
from pubmill.recipes import PretrainingRecipe
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.recipes.reading import as_json, as_values
from pubmill.specs import LearntVocabSpec, PretrainingSpec, Specs
from pubmill.specs.model_specs import HubWeights, ModelSpec, RecipeWeights
from pubmill.specs.pretraining_checks import faults_of_pretrainings
from pubmill.stages import Graph, checked_graph
from pubmill.stages.pretrainings import Pack, Pretrain
from pubmill.storage.files import write_json
from tests.unit.toy_studies import loaded as specs_of
from tests.unit.toy_studies import targets

SCALES = ["demo", "brief", "small", "full"]
LIMITS = {"demo": (2, 64, 64, 32, 1000), "small": (6, 384, 128, 32, 6000)}
"""Layers, hidden size, tokens of a sequence, sequences of a batch, and steps."""
NAMES = sorted(path.stem for path in (Path(__file__).parents[3] / "specs/pretraining").glob("*.yaml"))


@pytest.fixture(scope="module")
def loaded(root: Path) -> dict[str, Specs]:
    return {scale: specs_of(root / "specs", scale) for scale in SCALES}


@pytest.fixture(scope="module")
def demo(root: Path) -> Graph:
    return targets(root, models=[])


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_is_one_that_the_program_takes(loaded: dict[str, Specs], name: str, scale: str) -> None:
    made = loaded[scale].pretraining[name]
    assert recipes.build(PretrainingRecipe, json.loads(as_json(asdict(made.recipe))), name) == made.recipe
    assert made.citation


@pytest.mark.parametrize("scale", LIMITS)
@pytest.mark.parametrize("name", NAMES)
def test_no_recipe_is_run_at_full_length_in_a_small_scale(
    loaded: dict[str, Specs], name: str, scale: str
) -> None:
    spec = loaded[scale].pretraining[name]
    recipe, sizes, generator = spec.recipe, spec.recipe.architecture, spec.recipe.objective.generator
    layers, hidden, length, batch, steps = LIMITS[scale]
    assert sizes.layers <= layers
    assert max(sizes.hidden_size, sizes.embedding_size or 0) <= hidden
    assert generator is None or generator.hidden_size <= hidden // 2
    assert recipe.sequence_length <= length and recipe.batch_size <= batch and recipe.steps <= steps
    assert (spec.corpus, spec.vocab) == ("speedrun", "minilm") or (
        spec.corpus in ("pubmed-abstracts", "speedrun")
        and isinstance(loaded[scale].vocabs[spec.vocab], LearntVocabSpec)
    ), "a released vocabulary must be fetched"
    for model in filter(None, (spec.teacher, spec.start.model if spec.start else None)):
        assert not isinstance(loaded[scale].models[model].preferred(released=False), HubWeights)


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_makes_a_model(loaded: dict[str, Specs], name: str) -> None:
    """Or is the first phase of another."""
    starts = [spec.start for spec in loaded["full"].pretraining.values() if spec.start]
    if name in {start.recipe for start in starts} - loaded["full"].models.keys():
        return
    weights = loaded["full"].models[name].weights
    assert isinstance(weights, RecipeWeights) and (weights.kind, weights.recipe) == ("pretraining", name)
    vocab = loaded["demo"].vocabs[loaded["demo"].pretraining[name].vocab]
    assert isinstance(vocab, LearntVocabSpec)
    assert vocab.lowercase == loaded["full"].models[name].lowercase


def test_released_weights_that_no_spec_pins_need_a_pin(demo: Graph, tmp_path: Path) -> None:
    """Which is what their first download found."""
    url = "https://example.org/a/bert.tar.gz"
    released = {
        "pinned": {"id": "lab/bert", "revision": "1" * 40}, "newest": {"id": "lab/bert", "revision": None},
        "packed": {"url": url, "sha256": None}, "hashed": {"url": url, "sha256": "2" * 64},
    }  # fmt: skip
    values = {name: {"name": name, "lowercase": True, "released": one} for name, one in released.items()}
    models = {name: ModelSpec.model_validate(one) for name, one in values.items()}
    specs = demo.specs.model_copy(update={"models": demo.specs.models | models})
    made = Graph(demo.study.model_copy(update={"results": str(tmp_path)}), specs).models
    archive = f"{tmp_path}/demo/sources/example.org/a/bert.tar.gz"
    pin = f"{tmp_path}/demo/sources/released/{{}}.json"
    pinned = {"kind": "hub", "id": "lab/bert", "revision": "1" * 40}
    assert as_values(made.recipe("pinned"))["weights"] == pinned
    assert made.inputs("pinned") == {} and made.arguments("pinned") == []
    assert made.inputs("newest") == {"pin": pin.format("newest")}
    assert made.arguments("packed") == ["--archive", archive, "--pin", pin.format("packed")]
    assert made.inputs("hashed") == {"archive": archive}
    assert made.release("newest") == {"kind": "hub", "id": "lab/bert"}
    assert made.released_archive("newest") == [] and made.released_archive("packed") == [archive]
    for name in ("pinned", "hashed", "no-pretraining"):
        with pytest.raises(PubmillError, match=f"model {name} has no released weights to be pinned"):
            made.release(name)
    assert made.pin("newest") == {} == made.pin("pubmedbert-base")
    write_json(Path(pin.format("newest")), {"revision": "x"})
    assert made.pin("newest") == {"revision": "x"}


def small_spec(name: str, **changed: Any) -> PretrainingSpec:
    """A recipe that needs nothing."""
    architecture = {"family": "bert", "layers": 2, "hidden_size": 64, "attention_heads": 2}
    base = {
        "name": name, "corpus": "c", "vocab": "v", "sentence_splitter": "https://example.org/punkt.zip",
        "recipe": {
            "architecture": {**architecture, "intermediate_size": 256, **changed.pop("architecture", {})},
            "objective": {"masking": "whole-word", **changed.pop("objective", {})},
            "optimisation": {"learning_rate": 1e-3}, "sequence_length": 64, "batch_size": 8,
            "steps": changed.pop("steps", 100),
        },
        "checkpoints": [50, 100],
    }  # fmt: skip
    return PretrainingSpec.model_validate({**base, **changed})


def model(name: str, recipe: str, step: int | None = None, released: bool = False) -> ModelSpec:
    hub = {"id": "a/b", "revision": "0" * 40} if released else None
    weights = {"kind": "pretraining", "recipe": recipe, "step": step}
    return ModelSpec.model_validate({"name": name, "lowercase": True, "weights": weights, "released": hub})


def faults(*recipes: PretrainingSpec, models: Sequence[ModelSpec] = (), released: bool = False) -> list[str]:
    given = {spec.name: spec for spec in recipes}
    found = faults_of_pretrainings(given, {spec.name: spec for spec in models}, released)
    return [f"{kind}/{name}: {'.'.join(map(str, place))}: {fault}" for kind, name, place, fault in found]


ON = {"start": {"recipe": "first", "step": 50}, "checkpoints": [100]}
FROM = {"start": {"model": "m"}}
TAUGHT = {"teacher": "m", "objective": {"distillation": {}}}


@pytest.mark.parametrize(("second", "reported"), [
    (ON, None), ({**FROM, "architecture": {"dropout": 0.0}, "objective": {"pairs": "none"}}, None),
    ({**TAUGHT, "architecture": {"layers": 1, "hidden_size": 32}}, None),
    ({**ON, "start": {"recipe": "first", "step": 60}},
     "start.step: first keeps no checkpoint at step 60; it keeps 50, 100"),
    ({**ON, "architecture": {"layers": 3}}, "start.recipe: first has a different recipe.architecture;"),
    ({**ON, "vocab": "w"}, "start.recipe: first has a different vocab; the two must be equal"),
    ({**ON, "objective": {"pairs": "none"}}, "start.recipe: first has a different head for"),
    ({**FROM, "vocab": "w"}, "start.model: first has a different vocab;"),
    ({**FROM, "architecture": {"hidden_size": 32, "layers": 1}},
     "start.model: first has a different recipe.architecture.layers, recipe.arch"),
    ({**TAUGHT, "vocab": "w"}, "teacher: first has a different vocab;"),
    ({"start": {"model": "second"}}, "start.model: second depends on itself; change its `start` or"),
    ({**TAUGHT, "teacher": "second"}, "teacher: second depends on itself; change its `start` or"),
])  # fmt: skip
def test_what_does_not_fit_is_reported(second: dict[str, Any], reported: str | None) -> None:
    models = (model("m", "first"), model("second", "second"))
    made = faults(small_spec("first"), small_spec("second", **second), models=models)
    assert [one.startswith(f"pretraining/second: {reported}") for one in made] == [True] * bool(reported)


def test_a_models_step_is_a_checkpoint_and_released_weights_are_not_compared() -> None:
    reported = "models/m: weights.step: first keeps no checkpoint at step 70; it keeps 50, 100"
    assert faults(small_spec("first"), models=(model("m", "first", 70),)) == [reported]
    assert faults(small_spec("first"), models=(model("m", "first", 50),)) == []
    second, released = small_spec("second", **FROM, vocab="w"), (model("m", "first", released=True),)
    assert faults(small_spec("first"), second, models=released, released=True) == []
    assert len(faults(small_spec("first"), second, models=released, released=False)) == 1


def test_recipes_that_share_tokens_agree_on_packing(demo: Graph) -> None:
    reported = "pretraining/second: held_out: first shares its packed tokens and has held_out: 0.005"
    assert faults(small_spec("first"), small_spec("second", held_out=0.01)) == [
        f"{reported}; the two must be equal"
    ]
    assert faults(small_spec("first"), small_spec("second", held_out=0.01, vocab="w")) == []
    with pytest.raises(PubmillError, match="no recipe in specs/pretraining has the corpus x and the vocab y"):
        demo.pretrainings.packing_spec("x", "y")


def test_a_scales_share_goes_on_to_the_recipes_that_include_it(root: Path, tmp_path: Path) -> None:
    """Under their own share, and over what they say themselves."""
    folder = tmp_path / "specs"
    shutil.copytree(root / "specs", folder)
    (folder / "pretraining/mine.yaml").write_text(
        "name: mine\ninclude: pubmedbert-base\nrecipe: {steps: 9000, objective: {masking: subword}}\n"
        "checkpoints: [9000]\n"
    )
    base, mine = (specs.load(folder, "small").pretraining[name] for name in ("pubmedbert-base", "mine"))
    assert (mine.checkpoints, mine.recipe.steps) == (base.checkpoints, base.recipe.steps)
    assert mine.recipe == replace(base.recipe, objective=replace(base.recipe.objective, masking="subword"))
    scale, large = folder / "scales/small.yaml", "  pubmedbert-large: &large\n"
    own = f"  mine: {{recipe: {{steps: 70}}, checkpoints: [70]}}\n{large}"
    scale.write_text(scale.read_text().replace(large, own))
    mine = specs.load(folder, "small").pretraining["mine"]
    assert (mine.recipe.steps, mine.recipe.batch_size, mine.checkpoints) == (70, 32, (70,))


def test_a_pretraining_needs_its_tokens_its_start_and_its_teacher(full_graph: Graph) -> None:
    paths = full_graph.paths
    for recipe, spec in full_graph.specs.pretraining.items():
        needed = full_graph.stage(Pretrain).inputs_of(SimpleNamespace(recipe=recipe, step="1"))
        assert needed["tokens"] == paths.token_files(spec.corpus, spec.vocab)
        models = [model for model in (spec.start and spec.start.model, spec.teacher) if model]
        expected = set(map(paths.model, models))
        if spec.start and spec.start.recipe:
            expected.add(paths.checkpoint(spec.start.recipe, str(spec.start.step)))
        assert {str(Path(path).parent) for path in needed["weights"]} == expected


def test_a_first_segment_begins_with_what_the_spec_says(demo: Graph) -> None:
    results = "results/demo"
    for name, step, words in (
        ("pubmedbert-base", 500, []),
        ("pubmedbert-base@general-vocabulary", 40, ["--model", f"{results}/models/no-pretraining"]),
        ("biom-albert-xxlarge@pmc", 50, ["--other", f"{results}/pretraining/biom-albert-xxlarge/step-40"]),
    ):
        assert demo.pretrainings.segment_arguments(name, step) == words


def test_a_teacher_is_there_in_every_segment(loaded: dict[str, Specs], demo: Graph) -> None:
    name, teacher = "bio-lm-base@distill", ["--teacher", "results/demo/models/bio-lm-large"]
    base = ["--model", "results/demo/models/bio-lm-base"]
    assert demo.pretrainings.segment_arguments(name, 40) == [*base, *teacher]
    twice = loaded["demo"].pretraining[name].model_copy(update={"checkpoints": (20, 40)})
    changed = loaded["demo"].model_copy(update={"pretraining": {**loaded["demo"].pretraining, name: twice}})
    previous = ["--previous", f"results/demo/pretraining/{name}/step-20"]
    made = checked_graph(demo.study, changed).pretrainings
    assert made.segment_arguments(name, 40) == [*previous, *teacher]


def test_a_model_may_be_of_any_checkpoint_and_its_card_says_what_its_weights_began_with(demo: Graph) -> None:
    early, last, base, taught = (
        as_values(demo.models.recipe(name).weights)
        for name in ("biomegatron-1.2b@1k", "biomegatron-1.2b", "bio-lm-base", "bio-lm-base@distill")
    )
    assert demo.models.arguments("biomegatron-1.2b@1k")[3].endswith("/pretraining/biomegatron-1.2b/step-4")
    assert (early["step"], last["step"], base["start"]) == (4, 40, "random weights")
    start = {"model": "bio-lm-base", "recipe": None, "step": None}
    assert (taught["start"], taught["teacher"]) == (start, "bio-lm-large")


def test_a_study_knows_the_recipes_behind_its_models(root: Path) -> None:
    made = targets(root, models=["bio-lm-base@distill", "biomegatron-1.2b@10k", "biomegatron-1.2b@1k"])
    assert made.scope.last_steps() == {
        "bio-lm-base": 40, "bio-lm-base@distill": 40, "bio-lm-large": 40, "biomegatron-1.2b": 8,
        "biomegatron-345m@bert-uncased": 40,
    }  # fmt: skip
    shown = made.report.recipe().pretraining["biomegatron-1.2b"]
    assert shown == ("pretraining/biomegatron-1.2b/step-4", "pretraining/biomegatron-1.2b/step-8")


def test_tokens_are_packed_as_the_spec_says(demo: Graph) -> None:
    of = SimpleNamespace(corpus="pubmed-abstracts", vocab="pubmed-uncased")
    assert demo.stage(Pack).recipe_of(of) == PackingRecipe(title=False, held_out=0.005)
