"""Write the JSON Schemas with which editors complete and check YAML files, and name them in the first lines.

    .venv/bin/python -m tests.schemas --write

Without --write, print the files that would change. A file may contain a part of a spec only, because
`include:` and scales merge it with others. So the schemas require no key; the loader checks that a spec is
whole.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pubmill.new_specs.spec_files import FOLDER, MARK, first_line
from pubmill.recipes.recipe_types import Name
from pubmill.specs.loading import KINDS, ScaleSpec
from pubmill.specs.spec_types import Statement, Strict
from pubmill.specs.study import Study

ROOT = Path(__file__).resolve().parents[1]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
INCLUDE = {"type": "string", "description": "name of another spec of the same folder, the base of this one"}


class ChoicesFile(Strict):
    """Statements about what no spec writes: defaults of recipes, and choices in code, for all papers.

    - `name`: the file's name.
    - `method`: statements by the keys of the recipes' fields; other keys need `does`.
    """

    name: Name
    method: dict[str, Statement]


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each kind of spec, of scales and of the configuration, by the name of its file."""
    specs = {kind: _with_include(_schema(model)) for kind, model in KINDS.items()}
    scale = _schema(ScaleSpec)
    for kind in KINDS:
        scale["properties"][kind] = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}
    return {**specs, "choices": _schema(ChoicesFile), "scales": _with_include(scale), "study": _schema(Study)}


def as_text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


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


def yaml_files(root: Path) -> Iterator[Path]:
    """Yield the YAML files that have a schema, relative to the checkout."""
    for path in [root / "config.yaml", *(root / "specs").rglob("*.yaml"), *(root / "studies").glob("*.yaml")]:
        if schema_of(path.relative_to(root)):
            yield path.relative_to(root)


def expected(root: Path) -> dict[Path, str]:
    made = {Path(FOLDER, f"{name}.json"): as_text(schema) for name, schema in schemas().items()}
    for path in yaml_files(root):
        text = (root / path).read_text(encoding="utf-8")
        rest = text.partition("\n")[2] if text.startswith(MARK) else text
        line = first_line(str(schema_of(path)), len(path.parts) - 1)
        made[path] = f"{line}\n{rest}"
    return made


def outdated(root: Path) -> dict[Path, str]:
    return {
        path: text
        for path, text in expected(root).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.schemas")
    parser.add_argument("--write", action="store_true", help="write the files")
    write = parser.parse_args().write
    for path, text in outdated(ROOT).items():
        print(path)
        if write:
            (ROOT / path).parent.mkdir(exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
