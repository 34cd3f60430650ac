"""A verb is a module: adding or deleting it is all that the command needs."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from tests.waiting import patience, wait_until

VERB = '''
from pubmill.cli.verbs import Verb

def greet() -> None:
    """Greet the reader."""
    print("good morning")

VERB = Verb("Look", greet)
'''


def said(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "pubmill.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_module_adds_a_verb_and_without_extras_theirs_are_not_there(root: Path, tmp_path: Path) -> None:
    """In a copy of the package, without its extras."""
    package = tmp_path / "pubmill"
    shutil.copytree(root / "pubmill", package, ignore=shutil.ignore_patterns("__pycache__"))
    for extra in (one for one in (package / "extras").iterdir() if one.is_dir()):
        shutil.rmtree(extra)
    (package / "cli/greet_command.py").write_text(VERB)
    (package / "extras/manners").mkdir()
    (package / "extras/manners/__init__.py").touch()
    (package / "extras/manners/bow_command.py").write_text(VERB.replace("greet", "bow"))
    verbs = set(re.findall(r"^  (\w+)  ", said(tmp_path, "--help"), re.MULTILINE))
    assert {"greet", "bow", "doctor"} <= verbs and not {"ask", "audit"} & verbs
    assert {"study", "data", "fsck"} <= set(said(tmp_path, "doctor", "--help").split())
    assert said(tmp_path, "greet") == said(tmp_path, "bow") == "good morning\n"


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
