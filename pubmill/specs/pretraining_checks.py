"""Cross-checks of pretrainings: their start and teacher exist, have a matching form, and form no cycle."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from pubmill.recipes.objectives import OBJECTIVES, PAIRS
from pubmill.specs.corpus_specs import PretrainingSpec
from pubmill.specs.model_specs import ModelSpec, RecipeWeights
from pubmill.specs.strict_yaml import Faults, Location

Recipes = Mapping[str, PretrainingSpec]
Models = Mapping[str, ModelSpec]
Fields = Callable[[PretrainingSpec], dict[str, object]]
Fault = tuple[str, str, Location, str]
"""Kind and name of a spec, the location in it, and the message."""

_NOT_IN_WEIGHTS = ("dropout", "initializer_range", "scaled_initialisation")
"""Architecture keys that do not affect the weights, so two compatible models may differ in them."""


class Prerequisite(NamedTuple):
    """A recipe that another needs, the step (None: the last), and the location of the reference."""

    recipe: str
    step: int | None
    place: Location


def needed_before(spec: PretrainingSpec, models: Models, released: bool) -> Iterator[Prerequisite]:
    """Yield the recipes that must run before this one. `released`: the scale prefers released weights."""
    if spec.start and spec.start.recipe:
        yield Prerequisite(spec.start.recipe, spec.start.step, ("start", "recipe"))
    for model, place in ((spec.start and spec.start.model, ("start", "model")), (spec.teacher, ("teacher",))):
        weights = _weights_made_here(models.get(model or ""), released)
        if weights and weights.kind == "pretraining":
            yield Prerequisite(weights.recipe, weights.step, place)


def faults_of_pretrainings(recipes: Recipes, models: Models, released: bool) -> Iterator[Fault]:
    """Report contradictions between these specs; unknown names are reported by the loader."""
    packed: dict[tuple[str, str], PretrainingSpec] = {}
    for name, spec in recipes.items():
        for place, fault in _spec_faults(spec, recipes, models, released):
            yield "pretraining", name, place, fault
        other = packed.setdefault((spec.corpus, spec.vocab), spec)
        for key in ("sentence_splitter", "title", "held_out"):
            if getattr(spec, key) != getattr(other, key):
                fault = f"{other.name} shares its packed tokens and has {key}: {getattr(other, key)}"
                yield "pretraining", name, (key,), f"{fault}; the two must be equal"
    before = {name: list(needed_before(spec, models, released)) for name, spec in recipes.items()}
    try:
        TopologicalSorter({name: [one.recipe for one in needed] for name, needed in before.items()}).prepare()
    except CycleError as error:
        for name in dict.fromkeys(error.args[1]):
            fault = f"{name} depends on itself; change its `start` or `teacher`"
            yield "pretraining", name, before[name][0].place, fault
    for name, model in models.items():
        weights = model.weights
        if isinstance(weights, RecipeWeights) and weights.step is not None:
            fault = _checkpoint_fault(recipes.get(weights.recipe), weights.step)
            yield from ((("models", name, ("weights", "step"), fault),) if fault else ())


def _spec_faults(spec: PretrainingSpec, recipes: Recipes, models: Models, released: bool) -> Faults:
    start = spec.start
    other = recipes.get(start.recipe or "") if start else None
    if start and start.step is not None and (fault := _checkpoint_fault(other, start.step)):
        yield ("start", "step"), fault
    if other:
        yield from _field_differences(("start", "recipe"), _resume_fields, spec, other)
    if start and (other := _recipe_of(start.model, recipes, models, released)):
        yield from _field_differences(("start", "model"), _weights_fields, spec, other)
    if spec.teacher and (other := _recipe_of(spec.teacher, recipes, models, released)):
        yield from _field_differences(("teacher",), lambda one: {"vocab": one.vocab}, spec, other)


def _checkpoint_fault(recipe: PretrainingSpec | None, step: int) -> str:
    if recipe is None or step in recipe.checkpoints:
        return ""
    kept = ", ".join(map(str, recipe.checkpoints))
    return f"{recipe.name} keeps no checkpoint at step {step}; it keeps {kept}"


def _weights_made_here(model: ModelSpec | None, released: bool) -> RecipeWeights | None:
    chosen = model.preferred(released) if model else None
    return chosen if isinstance(chosen, RecipeWeights) else None


def _recipe_of(model: str | None, recipes: Recipes, models: Models, released: bool) -> PretrainingSpec | None:
    """Return the pretraining spec of a model that is made here."""
    weights = _weights_made_here(models.get(model or ""), released)
    return recipes.get(weights.recipe) if weights else None


def _weights_fields(spec: PretrainingSpec) -> dict[str, object]:
    """Fields that must match before a recipe may start from another recipe's weights."""
    architecture = asdict(spec.recipe.architecture)
    sizes = {key: value for key, value in architecture.items() if key not in _NOT_IN_WEIGHTS}
    return {"vocab": spec.vocab, **{f"recipe.architecture.{key}": value for key, value in sizes.items()}}


def _resume_fields(spec: PretrainingSpec) -> dict[str, object]:
    """Fields that must match before another recipe may resume a checkpoint."""
    objective = spec.recipe.objective
    adding = [field for field, kind in OBJECTIVES.items() if kind.adds_weights]
    return {
        "vocab": spec.vocab,
        "recipe.architecture": spec.recipe.architecture,
        **{f"recipe.objective.{field}": getattr(objective, field) for field in adding},
        "head for recipe.objective.pairs": objective.pairs in PAIRS,
    }


def _field_differences(
    place: Location, fields: Fields, spec: PretrainingSpec, other: PretrainingSpec
) -> Faults:
    theirs = fields(other)
    if differing := [key for key, value in fields(spec).items() if value != theirs[key]]:
        yield place, f"{other.name} has a different {', '.join(differing)}; the two must be equal"
