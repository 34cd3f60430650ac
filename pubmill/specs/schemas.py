"""JSON Schemas of the specs and of the configuration, with which editors complete and check YAML files.

A file may contain a part of a spec only, because `include:` and scales merge it with others. So the schemas
require no key; the loader checks that a spec is whole.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pubmill.messages.installation import root
from pubmill.specs.loading import KINDS, ScaleSpec
from pubmill.specs.spec_types import ChoicesFile
from pubmill.specs.study import Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"
INCLUDE = {"type": "string", "description": "name of another spec of the same folder, the base of this one"}
FOLDER = "schemas"
MARK = "# yaml-language-server: $schema="
"""Beginning of the first line of a YAML file, which names its schema for editors."""


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of spec, of scales and of the configuration, by the name of its file."""
    specs = {kind: _with_include(_schema(model)) for kind, model in KINDS.items()}
    scale = _schema(ScaleSpec)
    for kind in KINDS:
        scale["properties"][kind] = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}
    return {**specs, "choices": _schema(ChoicesFile), "scales": _with_include(scale), "study": _schema(Study)}


def as_text(schema: dict[str, Any]) -> str:
    """Return the text of a schema's file."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def first_line(schema: str, depth: int) -> str:
    """Return the line that names a schema in a YAML file `depth` folders below the checkout or workspace."""
    return f"{MARK}{'../' * depth}{root() / FOLDER}/{schema}.json"


def schema_of(path: Path) -> str | None:
    """Return the name of the schema of a YAML file, given relative to the checkout; None if it has none."""
    if path.parts[0] == "specs":
        return path.parts[1] if len(path.parts) > 2 else None
    return "study" if path.parts[0] in ("studies", "config.yaml") else None


def _schema(model: Any) -> dict[str, Any]:
    return {"$schema": DIALECT, **_without_demands(TypeAdapter(model).json_schema())}


def _without_demands(schema: Any) -> Any:
    """Return a schema without required keys; as an object may then fit several forms, `oneOf` is `anyOf`."""
    if isinstance(schema, list):
        return [_without_demands(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in ("required", "discriminator")}
    return {"anyOf" if key == "oneOf" else key: _without_demands(value) for key, value in kept.items()}


def _with_include(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of specs that may include another one."""
    if "properties" in schema:
        return schema | {"properties": {"include": INCLUDE, **schema["properties"]}}
    forms = [form["$ref"].rpartition("/")[2] for form in schema["anyOf"]]
    own = {name: _with_include(schema["$defs"][name]) for name in forms}
    return schema | {"$defs": schema["$defs"] | own}
