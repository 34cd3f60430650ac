"""How programs end."""

import errno
import signal
import subprocess
import sys

import pytest

from pubmill.errors import PubmillError, StopRequestedError, exit_with_message, run


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PubmillError("no file"), "pubmill: error: no file"),
        (StopRequestedError(signal.SIGINT), 130),
        (StopRequestedError(), 143),
        (PermissionError(errno.EACCES, "Permission denied", "out/\x1bx"),
         "pubmill: error: out/\\x1bx: Permission denied. Correct this, or name another file or folder"),
        (FileExistsError(errno.EEXIST, "File exists", "a"),
         "pubmill: error: a: exists, but is not a folder. Correct this, or name another file or folder"),
    ],
)  # fmt: skip
def test_programs_exit_with_a_message_or_the_status_of_a_signal(error: Exception, status: str | int) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        run(fail)
    assert ended.value.code == status


@pytest.mark.parametrize(
    ("error", "said"), [("KeyboardInterrupt", "pubmill: interrupted"), ("OSError", "OSError")]
)
def test_an_interrupted_program_prints_one_line_and_a_fault_its_traceback(error: str, said: str) -> None:
    program = f"from pubmill.errors import run\ndef fail(): raise {error}\nrun(fail)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = ended.stderr.splitlines()
    assert ended.returncode and lines[-1] == said and (len(lines) == 1) == (error == "KeyboardInterrupt")


def test_a_command_that_needs_torch_says_so_without_it() -> None:
    def needs(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    said = r"this needs torch, .* install it: .*pip install 'DIST.whl\[train\]'"
    with pytest.raises(SystemExit, match=said):
        exit_with_message(needs)("torch")
    with pytest.raises(ModuleNotFoundError):
        exit_with_message(needs)("lxml")
