"""A verb is a module: adding or deleting it is all that the command needs."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import patience, wait_until

VERB = '''
from pubmill.cli.verbs import Verb

def greet() -> None:
    """Greet the reader."""
    print("good morning")

VERB = Verb("Look", greet)
'''


@pytest.fixture(scope="module")
def package(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, without its extras, in a folder of its own."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(root / "pubmill", folder / "pubmill", ignore=shutil.ignore_patterns("__pycache__"))
    for extra in (folder / "pubmill/extras").iterdir():
        shutil.rmtree(extra) if extra.is_dir() else None
    return folder / "pubmill"


def said(package: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pubmill.cli", *words]
    return subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=True).stdout


def verbs(package: Path) -> set[str]:
    return set(re.findall(r"^  (\w+)  ", said(package, "--help"), re.MULTILINE))


@pytest.mark.parametrize("place", ["cli/greet_command.py", "extras/manners/greet_command.py"])
def test_a_module_adds_a_verb(package: Path, place: str) -> None:
    assert "greet" not in verbs(package)
    path = package / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(VERB)
    (path.parent / "__init__.py").touch()
    try:
        assert "greet" in verbs(package)
        assert said(package, "greet") == "good morning\n"
    finally:
        path.unlink()


def test_without_extras_their_verbs_are_not_there(package: Path) -> None:
    assert not {"ask", "audit"} & verbs(package) and "doctor" in verbs(package)
    assert {"study", "data", "fsck"} <= set(said(package, "doctor", "--help").split())


def test_a_closed_output_is_no_error(root: Path) -> None:
    command = ["bash", "-c", '"$0" -m pubmill.cli list tables >&-', sys.executable]
    done = subprocess.run(command, cwd=root, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stopped_verb_leaves_no_temporary_folder(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pubmill.cli", "run", "datasets", "-n"]
    process = subprocess.Popen(command, cwd=root, env={**os.environ, "TMPDIR": str(tmp_path)})
    wait_until(lambda: any(tmp_path.glob("pubmill-*")), 60, "a temporary folder")
    process.terminate()
    assert process.wait(patience(60)) == 128 + signal.SIGTERM
    assert not any(tmp_path.glob("pubmill-*"))
