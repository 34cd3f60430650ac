"""Parameters of jobs, read from the command line, and how programs end."""

import errno
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from pubmill.errors import PubmillError, StopRequestedError, exit_with_message, run
from pubmill.job import check_alternatives, program, start
from pubmill.recipes.recipe_types import StrictRecipe


class ToyRecipe(StrictRecipe):
    size: int


def main(
    recipe: ToyRecipe,
    input_: Annotated[Path, "file to read"],
    parts: list[Path],
    split: Literal["dev", "test"],
    save_minutes: float = 10.0,
    roles: dict[str, Path] | None = None,
    mirror: str | None = None,
    strict: bool = False,
) -> None:
    SEEN.append(locals())


SEEN: list[dict[str, Any]] = []
NEEDED = ["--recipe", '{"size": 3}', "--input", "a", "--parts", "b", "c", "--split", "dev"]


def called(
    function: Callable[..., None], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    monkeypatch.setattr(sys, "argv", ["program.py", *words])
    program(function)()
    return SEEN.pop()


def test_each_type_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    more = ["--save-minutes", "0.5", "--roles", "x=1", "--roles", "y=/a=b", "--mirror", "m", "--strict"]
    assert called(main, NEEDED + more, monkeypatch) == {
        "recipe": ToyRecipe(size=3), "input_": Path("a"), "parts": [Path("b"), Path("c")], "split": "dev",
        "save_minutes": 0.5, "roles": {"x": Path("1"), "y": Path("/a=b")}, "mirror": "m", "strict": True,
    }  # fmt: skip
    found = called(main, NEEDED, monkeypatch)
    assert [found[name] for name in ("save_minutes", "roles", "mirror", "strict")] == [
        10.0, None, None, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (NEEDED[2:], "the following arguments are required: --recipe"),
        ([*NEEDED[:-1], "train"], "invalid choice: 'train'"),
        ([*NEEDED, "--sav", "1", "--colour", "red"], "unrecognized arguments: --colour red"),
        ([*NEEDED, "--save-minutes", "soon"], "invalid float value: 'soon'"),
        (["--recipe", '{"size": "big"}', *NEEDED[2:]], "--recipe: not a valid ToyRecipe"),
        ([*NEEDED, "--roles", "x"], "--roles x: expected NAME=PATH"),
        ([*NEEDED, "--roles", "x="], "--roles x=: expected NAME=PATH"),
        ([*NEEDED, "--roles", "x=1", "--roles", "x=2"], "--roles x=2: .* each name once"),
    ],
)
def test_wrong_options_and_values_are_reported(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((SystemExit, PubmillError)) as ended:
        called(main, words, monkeypatch)
    assert not isinstance(ended.value, SystemExit) or ended.value.code == 2
    assert re.search(message, f"{ended.value}{capsys.readouterr().err}")


def test_the_help_is_the_docstring_of_the_module(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        called(main, ["--help"], monkeypatch)
    shown = capsys.readouterr().out
    assert "Parameters of jobs, read from the command line, and how" in shown and "file to read" in shown


def test_alternatives_exclude_each_other() -> None:
    check_alternatives(keep=None, kept="folder")
    with pytest.raises(PubmillError, match="--keep-it and --kept exclude each other"):
        check_alternatives(keep_it="a", kept="b", other=None)


@pytest.mark.parametrize("words", [[], ["prase"]])
def test_a_stage_that_is_not_there_is_refused_with_those_that_are(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["job.py", *words])
    with pytest.raises(PubmillError, match=r"^pubmill.job: the first word must be a stage: compare, "):
        start()


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
