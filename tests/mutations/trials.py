"""Trials of mutations: the tests of a changed module, run in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

from tests.mutations.points import Mutation

NOT_COPIED = (".git", ".venv", ".snakemake", ".hypothesis", "results", "data", "*_cache", "__pycache__")
PYTEST = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not weekly", "-p", "no:cacheprovider")
PASSED = (0, 5)
"""Status of pytest if no test failed, or if there was none."""
LIMIT = 1200.0
"""Seconds after which the tests of a module count as endless, which is a failure."""


def test_files(root: Path, module: Path) -> list[str]:
    """Return the test files of a module, the closest first: those of its room that are named after it, the
    others of its room, and those of other rooms that name it."""
    name = ".".join(module.with_suffix("").parts).removesuffix(".__init__")
    room = root / "tests/unit" / module.parts[1]
    of_room = sorted(
        room.rglob("test_*.py"), key=lambda path: not path.stem.startswith(f"test_{module.stem}")
    )
    naming = re.compile(rf"\b{re.escape(name)}\b")
    elsewhere = [
        path
        for path in sorted((root / "tests/unit").rglob("test_*.py"))
        if not path.is_relative_to(room) and naming.search(path.read_text(encoding="utf-8"))
    ]
    return [path.relative_to(root).as_posix() for path in (*of_room, *elsewhere)]


def survivors(root: Path, chosen: Sequence[Mutation], jobs: int = 1) -> list[Mutation]:
    """Try mutations of a checkout, `jobs` at once, and return those that fail no test."""
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copy = Path(folder, str(number))
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
            copies.put(copy)

        def survives(mutation: Mutation) -> bool:
            copy = copies.get()
            caught = is_caught(copy, mutation)
            copies.put(copy)
            print("caught  " if caught else "survived", mutation.name, file=sys.stderr, flush=True)
            return not caught

        return [one for one, left in zip(chosen, pool.map(survives, chosen), strict=True) if left]


def is_caught(copy: Path, mutation: Mutation) -> bool:
    """Return whether a test fails with the mutation that passes without it."""
    files = test_files(copy, mutation.path)
    broken: list[str] = []
    while files:
        with applied(copy, mutation):
            failed = first_failure(copy, [*files, *(f"--deselect={test}" for test in broken)])
        if failed is None:
            return False
        if not failed or first_failure(copy, [failed]) is None:
            return True
        print(f"left out: {failed}, which fails without any mutation", file=sys.stderr, flush=True)
        broken.append(failed)
    return False


@contextmanager
def applied(copy: Path, mutation: Mutation) -> Iterator[None]:
    """Change the file of a copy within this block."""
    path = copy / mutation.path
    text = path.read_text(encoding="utf-8")
    path.write_text(mutation.apply(text), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")


def first_failure(copy: Path, arguments: Sequence[str]) -> str | None:
    """Return the test that fails first, or "" if it is not known; None if all pass."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [*PYTEST, *arguments]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return ""
    if done.returncode in PASSED:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE)
    return failed[1] if failed else ""
