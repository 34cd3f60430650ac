"""Strict parsers of JSON and JSON lines, whose errors name the place, and a writer of JSON lines."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.formats.text_files import lines
from pubmill.messages.quotations import show
from pubmill.storage.strict_parsing import RepeatedKeyError, unique_keys


def parse_json(text: str, where: str, numbers_only: bool = False) -> Any:
    """Parse JSON. Raises a `PubmillError` for invalid JSON, a repeated key, too deep nesting and, with
    `numbers_only`, for NaN and Infinity. Messages name positions and keys, never a value."""

    def refuse(constant: str) -> Any:
        """Refuse a constant that Python reads as a number, but JSON lacks."""
        raise PubmillError(f"{where}: {constant} is no finite number")

    try:
        constants = refuse if numbers_only else None
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=constants)
    except json.JSONDecodeError as error:
        # The decoder's message contains what was expected there, never what was found.
        one_line = "\n" not in text.strip()
        place = f"character {error.pos}" if one_line else f"line {error.lineno} column {error.colno}"
        raise PubmillError(f"{where}: not valid JSON: {error.msg} at {place}") from None
    except RepeatedKeyError as error:
        raise PubmillError(f"{where}: the key {show(error.key)} occurs twice in one object") from None
    except (RecursionError, ValueError):
        raise PubmillError(f"{where}: nested too deeply, or a number too long, to be read") from None


def parse_row(text: str, where: str) -> dict[str, Any]:
    """Parse JSON that is an object."""
    row = parse_json(text, where)
    if not isinstance(row, dict):
        raise PubmillError(f"{where}: expected an object in JSON, found {type(row).__name__}")
    return row


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `file:line` and the object of each line of a JSON lines file; blank lines are errors."""
    for number, line in lines(path):
        yield f"{path}:{number}", parse_row(line, f"{path}:{number}")


def json_items(text: str, where: str) -> list[tuple[str, Any]]:
    """Return the place and value of each line of JSON lines; or of each item of a list, of the only list of
    objects or lists below a key, or of the values by id (`id` becomes a key); else the one value."""
    first = text.lstrip().split("\n", 1)[0]
    if first[:1] in ("{", "[") and parsed_or_none(first) is not None and text.strip() != first.strip():
        rows = enumerate(text.removesuffix("\n").split("\n"), 1)
        return [(f"{where}:{number}", parse_json(row, f"{where}:{number}")) for number, row in rows]
    content = parse_json(text, where)
    if isinstance(content, dict):
        values = list(content.values())
        lists = [value for value in values if isinstance(value, list) and value]
        lists = [value for value in lists if all(isinstance(item, dict | list) for item in value)]
        if len(lists) == 1 and not any(isinstance(content.get(key), str) for key in ("text", "data")):
            content = lists[0]
        elif values and all(isinstance(value, dict) for value in values):
            content = [{"id": name, **value} for name, value in content.items()]
    if not isinstance(content, list):
        return [(where, content)]
    return [(f"{where}: item {number}", item) for number, item in enumerate(content, 1)]


def json_rows(text: str, where: str, is_row: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """Return the place and value of each row, as `json_items`; a line alone is a row unless it has rows."""
    items = json_items(text, where)
    if [place for place, _ in items] == [where] or not (items and all(is_row(item) for _, item in items)):
        return items if "\n" in text.strip() else [(f"{where}:1", parse_json(text, where))]
    return items


def parsed_or_none(text: str) -> Any:
    """Return the value that a text is in JSON; None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_line(row: Mapping[str, object]) -> str:
    """Format a row as a JSON line."""
    return json.dumps(row, ensure_ascii=False) + "\n"
