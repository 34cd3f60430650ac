"""A fork of the process with the libraries runs a program as a process of its own would."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until

PROGRAM = """\
import json, os, sys
import numpy
place = [os.getcwd(), os.environ["GIVEN"]]
print(json.dumps([sys.argv[1:], *place, sys.stdin.read(), "pubmill" in sys.modules]))
print("an error", file=sys.stderr)
raise SystemExit(7)
"""
WAITING = """\
import os, sys, time
from pathlib import Path
Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(600)
"""

ENDING = """\
import atexit, sys, time
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
atexit.register(lambda: print("at its exit"))
pool.submit(lambda: (time.sleep(0.1), print("in a thread")))
{}
"""


def test_arguments_folder_environment_streams_and_status(python: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [python, "program.py", "--text", "two words"], cwd=tmp_path, env={"GIVEN": "a value", "PATH": "/bin"},
        input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout) == [["--text", "two words"], str(tmp_path), "a value", "typed", False]
    assert (done.stderr, done.returncode) == ("an error\n", 7)


@pytest.mark.parametrize(
    ("last", "status", "said"),
    [
        ("print('end', end='')", 0, ""),
        ("raise SystemExit('a reason')", 1, "a reason\n"),
        ("raise SystemExit(None)", 0, ""),
        ("raise ValueError('a fault')", 1, "ValueError: a fault\n"),
    ],
)
def test_its_end_is_that_of_a_process(python: str, tmp_path: Path, last: str, status: int, said: str) -> None:
    """Threads and exit functions end, and output is written, before the status is passed on."""
    (tmp_path / "program.py").write_text(ENDING.format(last))
    here, own = (
        subprocess.run([name, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
        for name in (python, sys.executable)
    )
    assert (here.stdout, here.returncode) == (own.stdout, own.returncode)
    assert here.stdout.endswith("in a thread\nat its exit\n") and here.returncode == status
    assert here.stderr.endswith(said) and own.stderr.endswith(said)


def test_anything_else_runs_in_a_process_of_its_own(python: str) -> None:
    done = subprocess.run(
        [python, "-c", "import sys; print(sys.executable, 'numpy' in sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{sys.executable} False\n"


def test_a_program_ends_with_its_caller(python: str, tmp_path: Path) -> None:
    program, started = tmp_path / "waiting.py", tmp_path / "started"
    program.write_text(WAITING)
    caller = subprocess.Popen([python, str(program), str(started)])
    wait_until(lambda: started.is_file() and bool(started.read_text()), 60, "the program's start")
    caller.kill()
    caller.wait()
    wait_until(lambda: has_ended(int(started.read_text())), 60, "the program's end")


def has_ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
