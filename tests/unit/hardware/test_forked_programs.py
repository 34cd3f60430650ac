"""Programs in forks of one process: as if run alone, killed alone, and by themselves where nothing forks."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pubmill.hardware.forked_programs import VARIABLE, ForkServer, start_server
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux only")
PROGRAM = """
import os, sys, time
sys.path.insert(0, {root!r})
from pubmill.hardware.forked_programs import serve, status_in_fork
loads = []
if sys.argv[1] == "--serve":
    serve(int(sys.argv[2]), lambda request: loads.append(request.arguments))
elif (status := status_in_fork()) is not None:
    sys.exit(status)
print(os.getcwd(), os.environ.get("OWN"), len(loads), sys.argv[1:], sys.stdin.read())
print("a message", file=sys.stderr)
mask = os.umask(0)
open(sys.argv[1], "w").write(f"{{os.getpid()}} {{os.getppid()}} {{mask:o}}")
if sys.argv[2] == "wait":
    time.sleep(600)
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def program(root: Path, tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM).format(root=str(root)))
    return path


@pytest.fixture
def server(program: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    monkeypatch.setenv(VARIABLE, "restored afterwards")
    with closing(ForkServer(program)) as server:
        yield server
    assert server.process.wait(30) == 0
    assert VARIABLE not in os.environ


def start(program: Path, *arguments: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(program), *arguments], env=os.environ | settings, text=True, cwd=program.parent,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, umask=0o027,
    )  # fmt: skip


def is_alive(process: int) -> bool:
    return Path(f"/proc/{process}").exists() and " Z " not in Path(f"/proc/{process}/stat").read_text(
        encoding="utf-8"
    )


def test_a_fork_has_the_callers_arguments_streams_folder_environment_and_status(
    program: Path, server: ForkServer, tmp_path: Path
) -> None:
    for number, status in enumerate(("0", "3"), start=1):
        process = start(program, "numbers", status, OWN=f"own {number}")
        out, messages = process.communicate("some input")
        words = f"{os.path.realpath(tmp_path)} own {number} {number} ['numbers', '{status}'] some input\n"
        assert (out, messages, process.returncode) == (words, "a message\n", int(status))
        own, parent, mask = (tmp_path / "numbers").read_text().split()
        assert int(parent) == server.process.pid and int(own) != process.pid and mask == "27"


def test_a_killed_program_ends_its_fork_alone(program: Path, server: ForkServer, tmp_path: Path) -> None:
    processes = [start(program, name, "wait") for name in ("first", "second")]
    for process in processes:
        assert process.stdin
        process.stdin.close()
    wait_until(lambda: all(map(written, (tmp_path / "first", tmp_path / "second"))), 30, "both forks")
    forks = [int((tmp_path / name).read_text().split()[0]) for name in ("first", "second")]
    processes[0].kill()
    processes[0].wait()
    wait_until(lambda: not is_alive(forks[0]), 30, "the end of the first fork")
    assert is_alive(forks[1]) and processes[1].poll() is None
    os.kill(forks[1], signal.SIGKILL)
    assert processes[1].wait(30) == 128 + signal.SIGKILL


def written(path: Path) -> bool:
    return path.exists() and path.read_text(encoding="utf-8").count(" ") == 2


def test_no_fork_outlives_its_process(program: Path, server: ForkServer, tmp_path: Path) -> None:
    process = start(program, "numbers", "wait")
    assert process.stdin
    process.stdin.close()
    wait_until(lambda: written(tmp_path / "numbers"), 30, "the fork")
    fork = int((tmp_path / "numbers").read_text().split()[0])
    server.process.kill()
    assert process.wait(30) == 1
    assert process.stderr and "the process that forks for this run has ended" in process.stderr.read()
    wait_until(lambda: not is_alive(fork), 30, "the end of the fork")
    server.process.wait = lambda *given: 0  # type: ignore[method-assign]  # for the fixture


def test_the_process_ends_after_its_last_fork(program: Path, server: ForkServer, tmp_path: Path) -> None:
    process = start(program, "numbers", "wait")
    assert process.stdin
    process.stdin.close()
    wait_until(lambda: written(tmp_path / "numbers"), 30, "the fork")
    address = Path(os.environ[VARIABLE])
    server.close()
    wait_until(lambda: not address.parent.exists(), 30, "the end of the socket")
    assert server.process.poll() is None and process.poll() is None
    alone = start(program, "alone", "0", **{VARIABLE: str(address)})
    assert alone.communicate("")[0].startswith(os.path.realpath(tmp_path)) and alone.returncode == 0
    assert (tmp_path / "alone").read_text().startswith(str(alone.pid))
    process.kill()
    assert server.process.wait(30) == 0


def test_a_process_is_started_once_for_a_run(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert start_server(program) is None
    alone = start(program, "numbers", "0")
    assert alone.communicate("")[0] and (program.parent / "numbers").read_text().startswith(str(alone.pid))


def test_a_run_starts_a_process_where_the_environment_names_none(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    server = start_server(program)
    assert server is not None
    with closing(server):
        address = Path(os.environ[VARIABLE])
        assert address.is_socket() and address.parent.stat().st_mode & 0o077 == 0
        assert start_server(program) is None
    assert VARIABLE not in os.environ and server.process.wait(30) == 0
