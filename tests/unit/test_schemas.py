"""JSON Schemas of YAML files: up to date, named in each file, and true of each file."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from pubmill.new_specs.spec_files import FOLDER
from pubmill.specs import strict_yaml
from tests.schemas import outdated, schemas, yaml_files


def test_schemas_and_first_lines_are_up_to_date(root: Path) -> None:
    assert list(outdated(root)) == [], "run .venv/bin/python -m tests.schemas --write"


@pytest.fixture(scope="module")
def validators(root: Path) -> dict[str, Draft202012Validator]:
    found = {name: json.loads((root / FOLDER / f"{name}.json").read_text()) for name in schemas()}
    for schema in found.values():
        Draft202012Validator.check_schema(schema)
    return {name: Draft202012Validator(schema) for name, schema in found.items()}


def faults(validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{'.'.join(map(str, one.path))}: {one.message[:200]}" for one in validator.iter_errors(value)]


def test_every_file_fits_the_schema_of_its_first_line(
    root: Path, validators: dict[str, Draft202012Validator]
) -> None:
    paths = list(yaml_files(root))
    assert len(paths) > 200
    for path in paths:
        line = (root / path).read_text().partition("\n")[0]
        named = (root / path).parent / line.partition("$schema=")[2]
        assert named.is_file(), path
        assert faults(validators[named.stem], strict_yaml.read(root / path, path.name, []).value) == [], path


@pytest.mark.parametrize(
    ("schema", "text", "where"),
    [
        ("models", "lowercas: true", "lowercas"), ("models", "weights: {kind: folder, locl: x}", "weights"),
        ("study", "scale: [full]", "scale"), ("protocols", "epochs: many", "epochs"),
        ("tables", "kind: results\ncolums: []", "colums"),
    ],
)  # fmt: skip
def test_a_misspelt_key_or_a_wrong_value_is_marked(
    validators: dict[str, Draft202012Validator], schema: str, text: str, where: str
) -> None:
    assert any(where in fault for fault in faults(validators[schema], yaml.safe_load(text)))
