"""Files of new specs: their names, and their first lines, which name a schema."""

import re
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.storage.files import writing
from pubmill.storage.name_patterns import HUB_ID
from pubmill.storage.release_pins import COMMIT

ON_THE_HUB = re.compile(rf"hub:(?P<id>{HUB_ID})(@(?P<revision>{COMMIT}))?")
"""A repository of the hub, perhaps at a commit."""
FOLDER = "schemas"
MARK = "# yaml-language-server: $schema="
"""Beginning of the first line of a YAML file, which names its schema for editors."""


def spec_name(path: str, what: str) -> str:
    """Return a name for a spec: the last part of a path in lower case, with hyphens."""
    name = re.sub(r"[^a-z0-9.]+", "-", path.rpartition("/")[2].lower()).strip("-.")
    if not name:
        raise PubmillError(f"{path!r} gives no name for the {what}; give one with --name")
    return name


def first_line(schema: str, depth: int) -> str:
    """Return the line that names a schema in a YAML file `depth` folders below the checkout or workspace."""
    return f"{MARK}{'../' * depth}{root() / FOLDER}/{schema}.json"


def write_with_schema(path: Path, kind: str, text: str) -> None:
    """Write a spec, with the line that names the schema of its kind."""
    with writing(path) as temporary:
        line = first_line(kind, depth=3 if kind == "tables" else 2)
        temporary.write_text(f"{line}\n{text}", encoding="utf-8")
