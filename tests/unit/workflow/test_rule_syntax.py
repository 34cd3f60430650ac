"""Patterns of wildcards match the names alone; the shell prefix quotes the checkout."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.workflow.rule_syntax import any_of, not_compared, places, shell_prefix, wildcard_patterns


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(min_size=1, max_size=8))
def test_a_pattern_matches_its_names_alone(names: list[str], other: str) -> None:
    pattern = re.compile(any_of(names))
    assert all(pattern.fullmatch(name) for name in names)
    assert bool(pattern.fullmatch(other)) == (other in names)


def test_wildcards_are_one_part_of_a_path_or_a_known_name() -> None:
    patterns = wildcard_patterns(["blurb", "gu2020"])
    assert re.fullmatch(patterns["model"], "bio-lm@1") and not re.fullmatch(patterns["model"], "a/b")
    assert re.fullmatch(patterns["protocol"], "blurb") and not re.fullmatch(patterns["protocol"], "lewis2020")
    assert re.fullmatch(patterns["table"], "table06") and not re.fullmatch(patterns["table"], "table")
    assert re.fullmatch(patterns["table"], "section3") and not re.fullmatch(patterns["table"], "section")
    assert re.fullmatch(patterns["seed"], "12") and not re.fullmatch(patterns["seed"], "{seed}")


def test_snakemake_sees_that_such_a_parameter_is_derived_from_outputs() -> None:
    found = not_compared(lambda wildcards: wildcards["name"])
    assert found.__code__.co_varnames[:2] == ("wildcards", "output")
    assert found({"name": "bc5"}, ["out"]) == "bc5"


def test_commands_name_places_that_are_not_compared() -> None:
    [(name, find)] = places(Path("/a"), "results/full", "m").items()
    assert name == "places" and find({}, [])._asdict() == {
        "scripts": "/a/scripts",
        "extras": "/a/pubmill/extras",
        "specs": "/a/specs",
        "results": "results/full",
        "mirror": ["--mirror", "m"],
    }
    assert places(Path("/a"), "results/full", None)[name]({}, []).mirror == []
    assert find.__code__.co_varnames[1] == "output"


@pytest.mark.parametrize("own", [False, True])
def test_programs_import_the_checkout_and_stop_at_the_first_fault(tmp_path: Path, own: bool) -> None:
    root = tmp_path / "a 'checkout' of pubmill"
    prefix = shell_prefix(root, own)
    shown = subprocess.run(
        ["bash", "-c", f"{prefix} echo $PYTHONPATH; false | true; echo on"], capture_output=True, text=True
    )
    assert (shown.returncode, shown.stdout) == (1, f"{root}\n")
    assert ("PATH=" in prefix.replace("PYTHONPATH=", "")) is not own
