"""Programs that run in forks of one process, which has imported and loaded what they have in common.

A fork begins with what the process has in memory and ends like any program, so that a run has its own random
numbers, settings and GPU, and can be killed alone. The process must not use a GPU or threads before it forks.
On Linux 5.3 and later; elsewhere, and where no such process answers, programs run by themselves. Needs only
the standard library.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "PUBMILL_FORKS"
"""Environment variable of jobs: address of their fork server."""
STREAMS = (0, 1, 2)
END_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of prctl(2)."""
LENGTH = 8
"""Bytes of the number that precedes a request: the length of the request in bytes."""
SECONDS = 10.0
"""Timeout of receiving a request, in seconds; callers send it at once."""


class ForkServer:
    """A fork server. It ends after its last fork, once this object is closed or this process ends. `program`:
    a script that calls `serve` if its only arguments are `--serve` and a number."""

    def __init__(self, program: Path) -> None:
        folder = tempfile.mkdtemp(prefix="pubmill-")  # only its owner may enter it; a socket's path is short
        os.environ[VARIABLE] = f"{folder}/forks"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.environ[VARIABLE])
            listener.listen(64)
            self.process = subprocess.Popen(
                [sys.executable, str(program), "--serve", str(listener.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )

    def close(self) -> None:
        """Accept no more programs."""
        os.environ.pop(VARIABLE, None)
        if self.process.stdin:
            self.process.stdin.close()


def start_server(program: Path) -> ForkServer | None:
    """Start the process that forks for a program; None where the environment names one already, or the
    system lacks what it needs (Linux 5.3)."""
    if VARIABLE in os.environ:
        return None
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return None
    return ForkServer(program)


def status_in_fork() -> int | None:
    """Run this program with its arguments, streams, folder and environment in a fork of the process that the
    environment names; return its exit status. None if no process answers."""
    address = os.environ.get(VARIABLE)
    if not address:
        return None
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(address)
        except OSError:
            return None
        mask = os.umask(0)
        os.umask(mask)
        request = json.dumps([sys.argv[1:], str(Path.cwd()), mask, dict(os.environ)]).encode()
        try:
            socket.send_fds(server, [len(request).to_bytes(LENGTH, "big")], STREAMS)
            server.sendall(request)
            answer = server.recv(1)
        except ConnectionError:
            answer = b""
    if not answer:
        print("the process that forks for this run has ended; run the same command again", file=sys.stderr)
    return answer[0] if answer else 1


@dataclass(frozen=True)
class Request:
    """A program to run in a fork: its arguments, folder, file mode mask, environment and streams."""

    arguments: list[str]
    folder: str
    mask: int
    environment: dict[str, str]
    streams: list[int]

    def begin(self) -> None:
        """Turn this process, a fork, into the requested program."""
        ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for place, stream in zip(STREAMS, self.streams, strict=True):
            os.dup2(stream, place)
            os.close(stream)
        os.environ.clear()
        os.environ.update(self.environment)
        os.environ.pop(VARIABLE)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        os.chdir(self.folder)
        os.umask(self.mask)
        sys.argv[1:] = self.arguments


def serve(number: int, prepare: Callable[[Request], None]) -> Request:
    """Fork for each request that the listening socket `number` receives; return it in the fork. `prepare`
    loads what a request and later ones need, in this process. A fork is killed if its caller ends. The
    process exits once its standard input is closed and all forks have ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends with the run's other processes, without a traceback
    callers: dict[int, tuple[int, socket.socket]] = {}
    with socket.socket(fileno=number) as listener:
        waiting = [sys.stdin.fileno(), listener.fileno()]
        while waiting or callers:
            watched = [*waiting, *callers, *(caller for _, caller in callers.values())]
            ready, _, _ = select.select(watched, [], [])
            _end_forks(callers, ready)
            if sys.stdin.fileno() in ready:
                shutil.rmtree(Path(listener.getsockname()).parent, ignore_errors=True)
                waiting = []
            elif listener.fileno() in ready:
                caller, _ = listener.accept()
                if (request := _receive(caller)) is None:
                    continue
                prepare(request)
                child = os.fork()
                if child == 0:
                    for _, other in callers.values():
                        other.close()
                    caller.close()
                    request.begin()
                    return request
                for stream in request.streams:
                    os.close(stream)
                callers[os.pidfd_open(child)] = child, caller
    sys.exit()


def _receive(caller: socket.socket) -> Request | None:
    """Return a caller's request; None if the caller ended, or stopped, before all was sent."""
    caller.settimeout(SECONDS)
    try:
        length, streams, _, _ = socket.recv_fds(caller, LENGTH, len(STREAMS))
        with caller.makefile("rb") as sent:
            arguments, folder, mask, environment = json.loads(sent.read(int.from_bytes(length, "big")))
    except (OSError, ValueError):
        caller.close()
        return None
    return Request(arguments, folder, mask, environment, list(streams))


def _end_forks(callers: dict[int, tuple[int, socket.socket]], ready: list[int | socket.socket]) -> None:
    """Kill the forks whose callers have ended; give callers the status of the forks that have ended."""
    for handle, (child, caller) in list(callers.items()):
        if caller in ready:  # Nothing is ever sent.
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        if handle in ready:
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            with caller, contextlib.suppress(OSError):
                caller.send(bytes([code if code >= 0 else 128 - code]))
            os.close(handle)
            del callers[handle]
