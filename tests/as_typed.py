"""Run commands as a user types them, each in a fork of a process that has already imported their modules.

    .venv/bin/python -m tests.as_typed FOLDER < TASKS

A separate process for each command would spend most of its time on imports. TASKS is JSON: {name: {"way",
"words"}}; the answer, on standard output, {name: [status, output]}. Ways:
- `whole`: run the whole command;
- `parse`: run its program or verb until its arguments are parsed;
- `usage`: check that the program has every option in its usage, and that the usage has all required ones.
"""

import argparse
import gc
import json
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.warm import status_of

Answer = tuple[int, str]
AT_ONCE = 2
TEST = re.compile(r"[A-Z_]+=")


def answers(folder: Path, tasks: dict[str, dict[str, Any]]) -> dict[str, Answer]:
    """Run tasks in forks, two at a time; return the status and output of each.

    Without threads: a fork has the locks that other threads hold when it is made, and waits for them forever.
    """
    found, running = dict[str, Answer](), dict[int, str]()
    with tempfile.TemporaryDirectory() as place:
        outputs = {name: Path(place) / str(number) for number, name in enumerate(tasks)}
        waiting = list(tasks)
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                name = waiting.pop(0)
                running[_start(folder, tasks[name], outputs[name])] = name
            child, status = os.wait()
            name = running.pop(child)
            found[name] = os.waitstatus_to_exitcode(status), outputs[name].read_text()
    return found


def _start(folder: Path, task: dict[str, Any], output: Path) -> int:
    """Run a task in a fork, which writes its output to a file; return the fork's number."""
    child = os.fork()
    if child == 0:
        said = os.open(output, os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os._exit(status_of(lambda: _run(folder, task["way"], list(task["words"]))))
    return child


def _run(folder: Path, way: str, words: list[str]) -> None:
    os.chdir(folder)
    while TEST.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        os.environ[name] = value
    assert Path(words[0]).is_file() or words[0].endswith("/pubmill"), f"{words[0]} does not exist"
    if words[0].endswith("/snakemake"):
        from snakemake.cli import main

        sys.argv = words
        main()
        return
    if words[0].endswith("/pubmill"):
        _run_command(folder, way, words)
        return
    place = next(i for i, word in enumerate(words) if word.endswith(".py"))  # after torchrun's own options
    sys.argv = words[place:]
    if way != "whole":
        _stop_after_arguments(" ".join(words) if way == "usage" else None)
    runpy.run_path(words[place], run_name="__main__")
    assert way == "whole", f"{words[place]} parses no arguments"


def _run_command(folder: Path, way: str, words: list[str]) -> None:
    """Run the `pubmill` command of the folder, and what it starts in its place, all in this process."""
    from typer.core import TyperCommand

    from pubmill.cli import main

    def stop(self: TyperCommand, context: Any) -> None:
        raise SystemExit(0)

    if way == "parse":
        TyperCommand.invoke = stop  # type: ignore[assignment]

    def become(program: str, started: list[str]) -> None:
        snakemake = started[1:3] == ["-m", "snakemake"]
        _run(folder, way, [".venv/bin/snakemake", *started[3:]] if snakemake else [program, *started[1:]])
        raise SystemExit(0)

    os.execv = become  # type: ignore[assignment]
    sys.argv = words
    main()


def _stop_after_arguments(usage: str | None) -> None:
    """Make the program exit after parsing its arguments, and compare its options with its usage."""
    parse = argparse.ArgumentParser.parse_args

    def stop(self: argparse.ArgumentParser, *arguments: Any, **named: Any) -> None:
        if usage is None:
            parse(self, *arguments, **named)
        else:
            options = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", usage))
            used = _command_of(self, usage)
            needed = {one.option_strings[-1] for one in used._actions if one.option_strings and one.required}
            strange = options - used._option_string_actions.keys()
            assert not strange and needed <= options, f"strange {strange}, lacking {needed - options}"
        raise SystemExit(0)

    argparse.ArgumentParser.parse_args = stop  # type: ignore[assignment, method-assign]


def _command_of(parser: argparse.ArgumentParser, usage: str) -> argparse.ArgumentParser:
    """Return the parser of the command that a usage names; the parser itself if it has no commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parser = next(action.choices[word] for word in usage.split() if word in action.choices)
    return parser


def main() -> None:
    import snakemake.cli  # noqa: F401
    import transformers  # noqa: F401

    folder, tasks = Path(sys.argv[1]), json.load(sys.stdin)
    sys.path.insert(0, str(folder))
    import pubmill.specs.study
    import pubmill.workflow.requested_targets  # noqa: F401

    pubmill.specs.load(folder / "specs", "demo")  # the commands then find the parsed files in memory
    assert Path(pubmill.specs.study.__file__).is_relative_to(folder)
    gc.freeze()  # else every collection in a fork would visit, and so copy, all that was imported
    json.dump(answers(folder, tasks), sys.stdout)


if __name__ == "__main__":
    main()
