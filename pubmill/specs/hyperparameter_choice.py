"""Hyper-parameters that a user chose in place of a protocol's search, on the command line or in a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

from pydantic import AfterValidator, TypeAdapter, ValidationError, model_validator

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes import FinetuningRecipe
from pubmill.specs import strict_yaml
from pubmill.specs.protocol_specs import DECIDABLE, SettingName, check_decidable, short_value
from pubmill.specs.spec_types import Name, Strict, Text, dotted_key, problem_text

SHORT = {"lr": "learning_rate", "batch": "batch_size"}
"""Short names of keys on the command line and in names of settings."""
OWN_SEARCH = "own-search"
BY_HAND = "the user's own choice, by --choice"
_TYPES = get_type_hints(FinetuningRecipe)


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of keys that a protocol may decide, as the recipe has them: `--config` gives text."""
    check_decidable(values)
    typed, faults = {}, []
    for key, value in values.items():
        try:
            typed[key] = TypeAdapter(_TYPES[key]).validate_python(value)
        except ValidationError as error:
            faults.append(f"{key}: {problem_text(error.errors()[0])}")
    if faults:
        raise ValueError("; ".join(faults))
    return typed


ChosenValues = Annotated[dict[str, Any], AfterValidator(_typed)]


class HyperparameterChoice(Strict):
    """Hyper-parameters to take in place of a search.

    - `name`: what names of settings with these values end with.
    - `source`: who chose the values, and how.
    - `values`: searched keys of the fine-tuning recipe, for all datasets that `datasets` does not name.
    - `datasets`: dataset, or folds of a protocol -> values of its own.
    """

    name: SettingName
    source: Text
    values: ChosenValues = {}
    datasets: dict[Name, ChosenValues] = {}

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        if not (self.values or self.datasets):
            raise ValueError("a choice needs `values` for all datasets, or `datasets` with values of each")
        if self.name == OWN_SEARCH:
            raise ValueError(f"{OWN_SEARCH} is the name of a search; give the choice another")
        return self


def read_choice_option(text: str) -> HyperparameterChoice:
    """Return a choice as the command line gives it: `lr=3e-5,batch=32,epochs=20`, or a file."""
    if Path(text).suffix in (".yaml", ".yml"):
        return _read_choice_file(Path(text))
    pairs = [pair.partition("=") for pair in text.split(",")]
    values = {SHORT.get(key, key): value for key, _, value in pairs}
    if strangers := [unknown("key", key, {*SHORT, *DECIDABLE}) for key in values if key not in _TYPES]:
        raise PubmillError(f"--choice {text}: {'; '.join(strangers)}")
    if len(values) < len(pairs) or not all(equals and value for _, equals, value in pairs):
        raise PubmillError(
            f"--choice {text}: expected each key once, with its value, as in lr=3e-5,batch=32,epochs=20, "
            "or a file NAME.yaml"
        )
    try:
        typed = _typed(values)
    except ValueError as error:
        raise PubmillError(f"--choice {text}: {error}") from None
    return HyperparameterChoice(name=_name_of(typed), source=BY_HAND, values=typed)


def _name_of(values: Mapping[str, Any]) -> str:
    """Return the values as the name of a setting."""
    short = {key: name for name, key in SHORT.items()}
    return "+".join(
        f"{short.get(key, key.replace('_', '-'))}={short_value(value)}" for key, value in values.items()
    )


def _read_choice_file(path: Path) -> HyperparameterChoice:
    if not path.is_file():
        raise PubmillError(f"--choice: there is no file {path}")
    errors: list[str] = []
    document = strict_yaml.read(path, str(path), errors)
    try:
        if not errors:
            return HyperparameterChoice.model_validate(document.value)
    except ValidationError as error:
        errors = [
            f"{document.where(one['loc'])}: {dotted_key(one['loc'])}: "
            f"{problem_text(one, HyperparameterChoice)}".replace(": : ", ": ")
            for one in error.errors()
        ]
    raise PubmillError("\n".join(errors))
