"""A Python whose programs start in forks of one process that has imported their libraries.

A process of its own would spend most of a short job's time on importing torch, transformers or pandas. The
command `Warm.python` runs a program (`FILE.py ...`), Snakemake or a job (`-m pubmill.job ...`) in a fork,
with the caller's arguments, folder, environment and standard streams, and ends with its status; anything
else runs in a process of its own. The fork imports pubmill itself, from the caller's own project. It ends
without the interpreter's own end, which would visit all that was imported, and so copy it: 0.25 s of
processor time, ten times what many a job needs.

Tests that kill processes, or change environment variables that libraries read when imported, use
`sys.executable`.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

DATA = (
    *("duckdb", "jinja2", "lxml.etree", "nltk", "numpy", "pandas", "pydantic", "pyarrow.parquet", "requests"),
    *("scipy.stats", "tokenizers", "yaml"),
)
TRAINING = (
    *("pydantic", "torch", "torch._dynamo", "transformers.modeling_utils"),
    *(
        f"transformers.models.{name}"
        for name in ("auto.modeling_auto", "auto.tokenization_auto", "bert.modeling_bert")
    ),
)
LIBRARIES = {
    **dict.fromkeys(("planner", "snakemake"), ("snakemake.api", "snakemake.cli", *DATA)),
    **dict.fromkeys(
        ("disturbed", "export_model", "finetune", "gpu_runs", "predict", "pretrain", "short_of_memory"),
        TRAINING,
    ),
}
"""Libraries that are imported before the first fork for a program; `DATA` before that for any other."""

WAITING = {"GOMP_SPINCOUNT": "1000"}
"""How threads wait: the programs set it before they load torch, which is too late in a fork."""

CLIENT = """\
import json, os, socket, sys
arguments = sys.argv[1:]
module = arguments[:2] in (["-m", "snakemake"], ["-m", "pubmill.job"])
if not module and not "".join(arguments[:1]).endswith(".py"):
    os.execv({python!r}, [{python!r}, *arguments])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    request = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(request).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(request)
    status = server.recv(1)
sys.exit(status[0] if status else 1)
"""


class Warm:
    """The process with the libraries, those of a Python.

    `before` is the prefix of its command, and so of all that it runs.
    """

    def __init__(self, before: Sequence[str] = (), of: str = sys.executable) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="warm-"))  # the path of a socket must be short
        self.python = str(self.folder / "python")
        address, client = str(self.folder / "socket"), self.folder / "client.py"
        client.write_text(CLIENT.format(python=of, address=address))
        start = shlex.join([of, "-IS", str(client)])
        Path(self.python).write_text(f'#!/bin/sh\nexec {start} "$@"\n', encoding="utf-8")
        Path(self.python).chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen(64)
            self.process = subprocess.Popen(
                [*before, of, __file__, str(listener.fileno()), self.python], stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL, env=os.environ | WAITING, pass_fds=[listener.fileno()],
            )  # fmt: skip

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder)


@dataclass(frozen=True)
class Request:
    arguments: list[str]
    folder: str
    environment: dict[str, str]


def serve(listener: socket.socket) -> Request:
    """Fork for each request, and return it in the fork."""
    while True:
        ready, _, _ = select.select([sys.stdin, listener], [], [])
        collect()
        if sys.stdin in ready:
            os._exit(0)  # at the usual end, duckdb reports what gc.freeze keeps as leaks
        connection, _ = listener.accept()
        with connection:
            length, streams, _, _ = socket.recv_fds(connection, 8, 3)
            with connection.makefile("rb") as sent:
                request = Request(*json.loads(sent.read(int.from_bytes(length, "big"))))
            import_libraries(request.arguments)
            if os.fork() == 0:
                listener.close()
                run_in_a_fork(connection, streams)
                return request
        for stream in streams:
            os.close(stream)


def collect() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def import_libraries(arguments: list[str]) -> None:
    stage = arguments[:2] == ["-m", "pubmill.job"] and arguments[2]
    program = stage or (arguments[1] if arguments[0] == "-m" else Path(arguments[0]).stem)
    for name in LIBRARIES.get(program, DATA):
        importlib.import_module(name)
    gc.freeze()  # else every collection in a fork would visit, and so copy, all that was imported


def run_in_a_fork(connection: socket.socket, streams: list[int]) -> None:
    """Return in another fork, which has the caller's streams; wait here for its end.

    If the caller ends first, the fork is killed.
    """
    child = os.fork()
    if child == 0:
        connection.close()
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        return
    for stream in streams:
        os.close(stream)

    def watch() -> None:
        with suppress(OSError):
            connection.recv(1)  # nothing is ever sent: the caller has ended
            os.kill(child, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with suppress(OSError):
        connection.send(bytes([code if code >= 0 else 128 - code]))
    os._exit(0)


def run(request: Request, python: str, libraries: list[str]) -> None:
    """Run the program in this process, as `python ARGUMENTS` would.

    `libraries`: what `sys.path` is without the folders of a program.
    """
    os.environ.clear()
    os.environ.update(request.environment)
    os.environ["PATH"] += f":{Path(sys.executable).parent}"
    os.chdir(request.folder)
    sys.executable = python  # Snakemake starts its jobs with it
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if "torch" in sys.modules:
        import torch

        torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    added = [part for part in os.environ.get("PYTHONPATH", "").split(":") if part]
    if request.arguments[0] == "-m":
        sys.argv = request.arguments[1:]
        sys.path[:] = [request.folder, *added, *libraries]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = request.arguments
        sys.path[:] = [str(Path(sys.argv[0]).parent), *added, *libraries]
        runpy.run_path(sys.argv[0], run_name="__main__")


def status_of(program: Callable[[], None]) -> int:
    """Return the exit status of a process that calls `program`, after its output."""
    try:
        program()
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def main() -> None:
    """Serve; in a fork, run the program and end with its status, after its threads and exit functions."""
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    status = status_of(lambda: run(request, sys.argv[2], sys.path[1:]))
    threading._shutdown()  # type: ignore[attr-defined]
    status_of(atexit._run_exitfuncs)
    os._exit(status)


if __name__ == "__main__":
    main()
