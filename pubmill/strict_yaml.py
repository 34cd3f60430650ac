"""YAML that forgives nothing: duplicate keys are errors, and every value knows its file and line."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

Location = tuple[str | int, ...]


class _Loader(yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader):  # type: ignore[misc]
    """The safe loader, with `1e-5` read as the number that its writer meant (YAML 1.1 calls it text).

    The parser in C, where PyYAML has it, reads all specs in a tenth of a second instead of two.
    """


_Loader.yaml_implicit_resolvers = {
    first: list(resolvers) for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)


@dataclass
class Document:
    """Parsed YAML: `value`, and for each location in it the file and line that wrote it."""

    value: Any
    lines: dict[Location, str] = field(default_factory=dict)

    def where(self, location: Location) -> str:
        """`file:line` of a location, or of the nearest one around it that stands in a file."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, "?")


def read(path: Path, shown: str, errors: list[str]) -> Document:
    """Read one YAML file. `shown` is its name in messages; what is wrong is added to `errors`."""
    document = Document({}, {(): f"{shown}:1"})
    try:
        loader = _Loader(path.read_text())
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        errors.append(f"{shown}:{line}: not valid YAML: {error.problem}")
        return document
    if isinstance(node, yaml.MappingNode):
        document.value = _construct(loader, node, (), shown, document.lines, errors)
    elif node is not None:
        errors.append(f"{shown}:1: expected keys with values, found {type(node).__name__}")
    return document


def _construct(
    loader: _Loader, node: yaml.Node, at: Location, shown: str, lines: dict[Location, str], errors: list[str]
) -> Any:
    lines.setdefault(at, f"{shown}:{node.start_mark.line + 1}")
    if isinstance(node, yaml.SequenceNode):
        return [_construct(loader, item, (*at, i), shown, lines, errors) for i, item in enumerate(node.value)]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node, deep=True)
    made: dict[Hashable, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        place = f"{shown}:{key_node.start_mark.line + 1}"
        if key in made:
            errors.append(f"{place}: duplicate key {key!r}, first at {lines[(*at, key)]}; remove one")
            continue
        lines[(*at, key)] = place
        made[key] = _construct(loader, value_node, (*at, key), shown, lines, errors)
    return made


def merge(base: Document, over: Document, whole: Sequence[Location] = ()) -> Document:
    """`over` laid on `base`: its keys win.

    Mappings are merged key by key; everything else is replaced, and so are mappings at the locations `whole`
    (where "*" is any key). An empty mapping clears that of the base. A merged mapping has the line of `over`.
    """
    lines = dict(base.lines)
    value = _merge(base.value, over.value, (), _Merging(lines, over.lines, whole))
    return Document(value, lines)


def part(document: Document, *at: str | int) -> Document:
    """The part of a document below a location, as a document of its own, but without a line of its beginning:
    what is missing beside its keys is missing in the document that it is laid on."""
    value = document.value
    for key in at:
        value = value[key]
    depth = len(at)
    below = {loc: line for loc, line in document.lines.items() if len(loc) > depth and loc[:depth] == at}
    return Document(value, {loc[depth:]: line for loc, line in below.items()})


class _Merging(NamedTuple):
    """`lines` of the merged document, which change while it is merged; `new` ones of what is laid on it."""

    lines: dict[Location, str]
    new: Mapping[Location, str]
    whole: Sequence[Location]

    def is_whole(self, at: Location) -> bool:
        return any(
            len(place) == len(at) and all(step in ("*", key) for step, key in zip(place, at, strict=True))
            for place in self.whole
        )


def _merge(base: Any, over: Any, at: Location, merging: _Merging) -> Any:
    lines, new = merging.lines, merging.new
    if isinstance(base, dict) and isinstance(over, dict) and over and not merging.is_whole(at):
        lines.update({at: new[at]} if at in new else {})
        return {**base, **{key: _merge(base.get(key), over[key], (*at, key), merging) for key in over}}
    for location in [loc for loc in lines if loc[: len(at)] == at]:
        del lines[location]
    lines.update({loc: line for loc, line in new.items() if loc[: len(at)] == at})
    return over
