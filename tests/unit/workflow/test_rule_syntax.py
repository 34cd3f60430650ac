"""Patterns of wildcards match the names alone; the shell prefix quotes the checkout."""

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.workflow.rule_syntax import any_of, not_compared, shell_prefix


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(min_size=1, max_size=8))
def test_a_pattern_matches_its_names_alone(names: list[str], other: str) -> None:
    pattern = re.compile(any_of(names))
    assert all(pattern.fullmatch(name) for name in names)
    assert bool(pattern.fullmatch(other)) == (other in names)


def test_snakemake_sees_that_such_a_parameter_is_derived_from_outputs() -> None:
    found = not_compared(lambda wildcards: wildcards["name"])
    assert found.__code__.co_varnames[:2] == ("wildcards", "output")
    assert found({"name": "bc5"}, ["out"]) == "bc5"


@pytest.mark.parametrize("own", [False, True])
def test_programs_import_the_checkout_and_stop_at_the_first_fault(tmp_path: Path, own: bool) -> None:
    root = tmp_path / "a 'checkout' of pubmill"
    prefix = shell_prefix(root, own)
    shown = subprocess.run(
        ["bash", "-c", f"{prefix} echo $PYTHONPATH; false | true; echo on"], capture_output=True, text=True
    )
    assert (shown.returncode, shown.stdout) == (1, f"{root}\n")
    assert ("PATH=" in prefix.replace("PYTHONPATH=", "")) is not own
