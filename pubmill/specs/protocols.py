"""Specs of protocols: how a paper fine-tunes, chooses and aggregates."""

from typing import Any, Literal, Self

from pydantic import TypeAdapter, ValidationError, model_validator

from pubmill.recipes import FinetuningRecipe
from pubmill.specs.base import Name, Spec, Strict, shown, told


class Search(Strict):
    """A grid over dev: every point for every model and seed; the best mean dev score is chosen."""

    grid: dict[Literal["learning_rate", "batch_size"], tuple[float, ...]]
    models: tuple[Name, ...]
    seeds: int = 1


class Final(Strict):
    seeds: dict[str, int]
    aggregate: Literal["mean"]
    split: Literal["test"]


class ProtocolSpec(Spec):
    """How a paper fine-tunes. `hyperparameters` are all of FinetuningRecipe's keys but those that the
    dataset decides (task, metric) and those that the search's grid decides."""

    search: Search | None
    hyperparameters: dict[str, Any]
    settings: dict[Name, dict[str, Any]]
    final: Final

    @model_validator(mode="after")
    def every_setting_makes_a_recipe(self) -> Self:
        if "default" not in self.final.seeds:
            raise ValueError("final.seeds must have the key `default`")
        decided: dict[str, Any] = dict.fromkeys(self.search.grid, 1) if self.search else {}
        both = sorted(decided.keys() & self.hyperparameters.keys())
        if both:
            raise ValueError(f"the search and hyperparameters both decide {both}; remove one")
        for name, setting in self.settings.items():
            known = {"task": "tokens", "metric": "", **self.hyperparameters, **setting, **decided}
            _check_recipe(name, known)
        return self


def _check_recipe(setting: str, known: dict[str, Any]) -> None:
    try:
        TypeAdapter(FinetuningRecipe).validate_python(known)
    except ValidationError as error:
        wrong = "; ".join(f"{shown(problem['loc'])}: {told(problem)}" for problem in error.errors())
        raise ValueError(f"setting {setting} makes no recipe: {wrong}") from None
