"""The graph of a study: parts composed of other parts."""

import ast
from pathlib import Path

import pytest
import yaml

from pubmill.errors import ExitWithMessage
from pubmill.specs.study import check_study
from pubmill.stages import Graph


def graph(root: Path) -> Graph:
    return Graph(*check_study(yaml.safe_load((root / "config.yaml").read_text()), root / "specs"))


OF_NAMED_TUPLES = ("_asdict", "_replace")
"""Public methods whose names begin so that they are no field's."""


def test_private_names_are_used_on_self_only(root: Path) -> None:
    for path in (root / "pubmill/stages").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Attribute) or node.attr in OF_NAMED_TUPLES:
                continue
            if node.attr.startswith("_") and node.attr[:2] != "__":
                assert isinstance(node.value, ast.Name) and node.value.id == "self", f"{path}: {node.attr}"


def test_errors_of_parts_end_the_program_with_their_message(root: Path) -> None:
    plain = ExitWithMessage(graph(root))
    assert plain.results == "results/demo" and plain.paths.model("x") == "results/demo/models/x"
    with pytest.raises(SystemExit, match="pubmill: error: there is no specs/protocols/none.yaml"):
        plain.runs.protocol("none")
