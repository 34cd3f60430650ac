"""Relations between concepts, as predictions state them: lists, or lines of a language model's answer."""

import json
import re
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.kinds import RELATIONS_FAULT, are_relations
from pubmill.examples.prompts import NOTHING
from pubmill.extras.submissions.rows import PredictionRow

_LINE = re.compile(r"[-*\s]*([^:|]+):([^|]+)\|([^|]+)")


class StatedRelations(NamedTuple):
    """Relations as two concepts, a label and perhaps the novelty, and the lines that are none."""

    read: list[list[str]]
    unread: list[str]


def relations_of(row: PredictionRow) -> StatedRelations:
    """Return the relations of a row: a list, in any order, or lines `LABEL: CONCEPT | CONCEPT`, which may be
    the texts of a JSON list."""
    if row.key == "output":
        lines = [line for line in _lines_of(str(row.value)) if line.strip()]
        matched = [(line, _LINE.fullmatch(line)) for line in lines]
        read = [[match[2].strip(), match[3].strip(), match[1].strip()] for _, match in matched if match]
        unread = [line for line, match in matched if not match and line.strip(" .").lower() != NOTHING]
        return StatedRelations(read, unread)
    if (
        row.key == "prediction"
        and isinstance(row.value, list)
        and all(are_relations([one]) for one in row.value)
    ):
        return StatedRelations(row.value, [])
    raise PubmillError(f"{row.where}: expected a list: {RELATIONS_FAULT}")


def _lines_of(answer: str) -> list[str]:
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        content = None
    items = content.get("relations") if isinstance(content, dict) else None
    return list(map(str, items)) if isinstance(items, list) else answer.splitlines()
