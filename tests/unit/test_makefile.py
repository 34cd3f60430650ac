"""Targets of the Makefile that take names: rooms of tests, and benchmarks."""

import os
import re
import subprocess
from pathlib import Path

import pytest

FROM_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ROOM", "BENCH", "LONG"}


def planned(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `make` would run, as if called by hand: a `make` that runs the tests hands its flags on."""
    by_hand = {name: value for name, value in os.environ.items() if name not in FROM_MAKE}
    return subprocess.run(
        ["make", "--dry-run", *arguments], cwd=root, env=by_hand, capture_output=True, text=True, check=False
    )


def test_a_room_is_tested_alone(root: Path) -> None:
    one, two = planned(root, "test", "ROOM=corpus"), planned(root, "test", "ROOM=corpus vocabs")
    assert one.stdout.endswith("tests/unit/corpus\n")
    assert two.stdout.endswith("tests/unit/corpus tests/unit/vocabs\n")
    assert "tests/unit" not in planned(root, "test").stdout


def test_numeric_tests_run_twice_unless_a_room_is_tested_alone(root: Path) -> None:
    runs = planned(root, "test-all").stdout.split("-m pytest")[1:]
    assert len(runs) == 2 and "assert_close tests" in runs[0] and "tests/unit" not in runs[1]
    assert planned(root, "test-all", "ROOM=corpus").stdout.count("-m pytest") == 1
    [long] = planned(root, "test", "LONG=1").stdout.split("-m pytest")[1:]
    assert '-m "not weekly"' in long


@pytest.mark.parametrize("room", ["", "corpsu", "corpus corpsu", "test_docs.py"])
def test_an_unknown_room_is_reported_with_all_rooms(root: Path, room: str) -> None:
    refused = planned(root, "test", f"ROOM={room}")
    assert refused.returncode != 0 and not refused.stdout
    rooms = [path.name for path in sorted((root / "tests/unit").iterdir()) if any(path.rglob("test_*.py"))]
    assert f"ROOM={room}: expected one or more of {' '.join(rooms)}." in refused.stderr


def test_benchmarks_are_the_programs_of_their_page(root: Path) -> None:
    [names] = re.findall(r"for name in (.*); do", planned(root, "bench").stdout)
    page = (root / "benchmarks/README.md").read_text()
    assert sorted(names.split()) == sorted(re.findall(r"(?m)^\| `(\w+)\.py` \|", page))
    assert "for name in medline; do" in planned(root, "bench", "BENCH=medline").stdout
    assert "expected one or more of baseline" in planned(root, "bench", "BENCH=medlin").stderr
