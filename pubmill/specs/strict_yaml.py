"""Strict YAML reader: duplicate keys are errors, and the file and line of every value are recorded."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

Location = tuple[str | int, ...]
Faults = Iterator[tuple[Location, str]]
"""Places in a document, with messages."""

_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "map", "seq")}


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """The safe loader, except that `1e-5` is a number (YAML 1.1 reads it as text) and dates stay text.
    PyYAML's C parser, where available, reads all specs in a tenth of a second instead of two.

    `shown`: the file's name in messages; `lines` of all values and `errors` grow as values are read.
    """

    def __init__(self, text: str, shown: str) -> None:
        super().__init__(text)
        self.shown, self.lines, self.errors = shown, {(): f"{shown}:1"}, list[str]()

    def value(self, node: yaml.Node, at: Location) -> Any:
        """Return the value of a node and record the lines of all locations below `at`."""
        line = node.start_mark.line + 1
        self.lines.setdefault(at, f"{self.shown}:{line}")
        if node.tag not in _TAGS:
            raise _FaultError(line, f"the tag {_short_repr(node.tag)} is not supported; remove it")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, line)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*at, i)) for i, item in enumerate(node.value)]
        pairs: dict[str | int, Any] = {}
        for key_node, value_node in node.value:
            key, line = self._key(key_node), key_node.start_mark.line + 1
            if first := self.lines.get((*at, key)):
                fault = f"duplicate key {_short_repr(key)}, first at {first}; remove one"
                self.errors.append(f"{self.shown}:{line}: {fault}")
                continue
            self.lines[(*at, key)] = f"{self.shown}:{line}"
            pairs[key] = self.value(value_node, (*at, key))
        return pairs

    def _key(self, node: yaml.Node) -> Any:
        line = node.start_mark.line + 1
        if node.tag == "tag:yaml.org,2002:merge":
            raise _FaultError(line, "merge keys (<<) are not supported; write the keys out")
        if not isinstance(node, yaml.ScalarNode):
            raise _FaultError(line, f"a {_node_kind(node)} as a key; expected a name")
        if node.tag not in _TAGS:
            raise _FaultError(line, f"the tag {_short_repr(node.tag)} is not supported; remove it")
        return self._scalar(node, line)

    def _scalar(self, node: yaml.ScalarNode, line: int) -> Any:
        try:
            made = self.construct_object(node)
        except (ValueError, KeyError, OverflowError):
            made = math.nan
        if isinstance(made, float) and not math.isfinite(made):
            raise _FaultError(line, f"{_short_repr(node.value)} is not a valid finite number")
        return made


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


@dataclass
class YamlDocument:
    """Parsed YAML: `value`, and the file and line of each location in it."""

    value: Any
    lines: dict[Location, str] = field(default_factory=dict)

    def where(self, location: Location) -> str:
        """Return `file:line` of a location, or of the nearest enclosing location that has a line."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, "?")


class _FaultError(Exception):
    """A fault that ends the reading of a file, with its line, counted from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read(path: Path, shown: str, errors: list[str]) -> YamlDocument:
    """Read one YAML file. `shown` is its name in messages; faults are added to `errors`."""
    fault, content = "not a plain file; expected a YAML file", b""
    try:
        if path.is_file():  # pipes and devices may not end
            fault, content = "", path.read_bytes()
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    if fault:
        errors.append(f"{shown}:1: {fault}")
    document, faults = _parse(content, shown)
    errors += faults
    return YamlDocument(dict(document.value), dict(document.lines))


@lru_cache(maxsize=1000)
def _parse(content: bytes, shown: str) -> tuple[YamlDocument, tuple[str, ...]]:
    """Return the document in a file and its faults. A spec that others include is parsed once."""
    errors = list[str]()
    try:
        text = content.decode("utf-8-sig")
        if unprintable := yaml.reader.Reader.NON_PRINTABLE.search(text):
            line, number = text.count("\n", 0, unprintable.start()) + 1, ord(unprintable[0])
            raise _FaultError(line, f"holds the character U+{number:04X}, which YAML forbids; remove it")
        loader = _Loader(text, shown)
        errors = loader.errors
        node = loader.get_single_node()
        if isinstance(node, yaml.MappingNode):
            loader.lines[()] = f"{shown}:{node.start_mark.line + 1}"
            return YamlDocument(loader.value(node, ()), loader.lines), tuple(errors)
        if node is not None:
            raise _FaultError(1, f"expected keys with values, found a {_node_kind(node)}")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        errors.append(f"{shown}:{line}: not UTF-8; save the file in that encoding")
    except _FaultError as fault:
        errors.append(f"{shown}:{fault.line}: {fault}")
    except RecursionError:
        errors.append(f"{shown}:1: an alias contains itself, or keys and lists nest too deeply")
    except yaml.MarkedYAMLError as error:
        assert error.problem_mark, "the parser marks all its errors"
        line, opened, problem = error.problem_mark.line + 1, error.context_mark, str(error.problem)
        for kind, character in OPENINGS.items():
            if opened and kind in (error.context or ""):  # what is not closed has the line where it opens
                place = f"the {character} in column {opened.column + 1}"
                problem = f"{place} is not closed before line {line}: {problem}"
                line = opened.line + 1
                break
        errors.append(f"{shown}:{line}: not valid YAML: {problem}")
    return YamlDocument({}, {(): f"{shown}:1"}), tuple(errors)


OPENINGS = {"flow sequence": "bracket [", "flow mapping": "brace {", "quoted scalar": "quotation mark"}
"""What the parser reads -> the character that opens it."""


def _node_kind(node: yaml.Node) -> str:
    return type(node).__name__.removesuffix("Node").lower()


def _short_repr(value: object) -> str:
    return f"{value!r:.80}"


def merge(base: YamlDocument, over: YamlDocument, whole: Sequence[Location] = ()) -> YamlDocument:
    """Return `base` overlaid with `over`, whose keys win. Mappings are merged key by key; all other values,
    and mappings at the locations `whole` ("*" is any key), are replaced. An empty mapping clears that of the
    base. A merged mapping has the line of `over`."""
    lines, new = dict(base.lines), over.lines

    def is_whole(at: Location) -> bool:
        places = (place for place in whole if len(place) == len(at))
        return any(all(step in ("*", key) for step, key in zip(place, at, strict=True)) for place in places)

    def merged(below: Any, above: Any, at: Location) -> Any:
        is_merged = isinstance(below, dict) and isinstance(above, dict) and above
        if is_merged and not is_whole(at):
            lines.update({at: new[at]} if at in new else {})
            return {**below, **{key: merged(below.get(key), above[key], (*at, key)) for key in above}}
        for location in _locations(below, at):
            lines.pop(location, None)
        lines.update({location: new[location] for location in _locations(above, at) if location in new})
        return above

    return YamlDocument(merged(base.value, over.value, ()), lines)


def parts(document: YamlDocument, key: str) -> dict[str | int, YamlDocument]:
    """Return the values of the mapping at a key, each as a document that overlays a spec. The documents
    have no line for their roots, so that a missing key is reported at the line of the overlaid spec."""
    mapping = document.value.get(key)
    if not isinstance(mapping, dict):
        return {}
    lines: dict[str | int, dict[Location, str]] = {name: {} for name in mapping}
    for at, line in document.lines.items():
        if len(at) > 2 and at[0] == key:
            lines[at[1]][at[2:]] = line
    return {name: YamlDocument(value, lines[name]) for name, value in mapping.items()}


def _locations(value: Any, at: Location) -> Iterator[Location]:
    """Yield the location of a value and of everything in it."""
    yield at
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _locations(inner, (*at, key))
