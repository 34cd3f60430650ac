"""Fetch a whole shard of PMC's bucket over HTTP: articles per second, memory, and the cost of being killed.

    .venv/bin/python benchmarks/fetching.py [--quick] [--articles 10000] [--delay 0.05] [--faults 0]

A server on this machine answers each request `--delay` seconds late, like a distant one, and counts the
requests. The share `--faults` of its answers is wrong: by turns, status 503, half of the content, or none.
Its made-up articles (benchmarks/pmc.py) have the size of real ones. The job fetch_pmc fetches them, is
killed (SIGKILL) when it has half of them, and fetches the rest; then the whole shard is fetched again
without interruption, and must have the same bytes. `again` is the share of requests repeated because of the
kill and of wrong answers; `at once` is the largest number of requests that the server had at the same time.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.pmc import articles
from pubmill.corpus.pmc import CONNECTIONS
from pubmill.storage.files import sha256
from tests.bucket import Bucket

FIRST = 1_230_000
SHARD = "PMC00123xxxx"


class Fetched(NamedTuple):
    """Cost of a finished job: wall-clock seconds, processor seconds, peak resident MB."""

    seconds: float
    processor: float
    memory: float


class Server:
    """HTTP server for a folder on this machine that delays each answer, and gives a share of wrong ones.

    `requests` and `faults` count them; `most` is the largest number of requests at once.
    """

    def __init__(self, folder: Path, delay: float, faults: float) -> None:
        self.requests = self.faults = self.now = self.most = 0
        dice = random.Random(1)
        outer, counting = self, threading.Lock()

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # keeps connections open, as the bucket does

            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments, directory=str(folder))

            def do_GET(self) -> None:
                with counting:
                    outer.requests += 1
                    outer.now += 1
                    outer.most = max(outer.most, outer.now)
                    faulty = dice.random() < faults
                    outer.faults += faulty
                    kind = outer.faults % 3
                time.sleep(delay)
                with suppress(ConnectionError):  # the program was killed
                    self.fail(kind) if faulty else super().do_GET()
                with counting:
                    outer.now -= 1

            def fail(self, kind: int) -> None:
                """Answer with status 503, with half of the file, or not at all."""
                self.close_connection = True
                if kind == 0:
                    self.send_error(503)
                elif kind == 1:
                    content = Path(self.translate_path(self.path)).read_bytes()
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content[: len(content) // 2])

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


def fetch(url: str, plan: Path, output: Path, half: int = 0) -> Fetched:
    """Run the program to its end, or kill it as soon as it has fetched `half` articles."""
    command = [sys.executable, "-m", "pubmill.job", "fetch_pmc", "--plan", str(plan), "--shards", SHARD]
    began = time.monotonic()
    command += ["--url", url, "--folder", str(output.parent), "--output", str(output.parent / "block.json")]
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    part = output.with_name(f"{output.name}.part")
    while half and len(list(part.glob("*.xml"))) < half:
        time.sleep(0.1)
    if half:
        job.send_signal(signal.SIGKILL)
    _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode != (-signal.SIGKILL if half else 0):
        raise SystemExit(f"fetch_pmc.py ended with {job.returncode}")
    return Fetched(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def measure(folder: Path, count: int, delay: float, faults: float) -> dict[str, float]:
    bucket = Bucket(folder)
    written = [text.encode() for text in articles(200, seed=1)]
    for pmcid, content in zip(range(FIRST, FIRST + count), cycle(written), strict=False):
        bucket.article(pmcid, 1, content)
    plan = folder / "plan.parquet"
    bucket.plan(plan)
    server = Server(bucket.root, delay, faults)
    size = sum(map(len, islice(cycle(written), count)))
    print(
        f"{count} articles, {size / 1e6:.0f} MB, {CONNECTIONS} connections, {delay} s late, faults {faults}"
    )
    disturbed, alone = folder / "disturbed.tar.gz", folder / "alone.tar.gz"
    fetch(server.url, plan, disturbed, half=count // 2)
    fetch(server.url, plan, disturbed)
    again = server.requests / (2 * count) - 1
    whole = fetch(server.url, plan, alone)
    if sha256(disturbed) != sha256(alone):
        raise SystemExit("the archive of a job that was killed differs")
    return {
        "articles a second": count / whole.seconds,
        "processor seconds for 1,000 articles": whole.processor / count * 1000,
        "resident MB": whole.memory,
        "again": again,
        "wrong answers": server.faults,
        "at once": server.most,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="200 articles")
    parser.add_argument("--articles", type=int, default=10_000, help="at most 10,000, the size of a shard")
    parser.add_argument("--delay", type=float, default=0.05, help="seconds until the server answers")
    parser.add_argument("--faults", type=float, default=0.0, help="share of wrong answers")
    arguments = parser.parse_args()
    count = 200 if arguments.quick else arguments.articles
    if not 2 <= count <= 10_000:
        parser.error("--articles: from 2 to 10,000")
    with tempfile.TemporaryDirectory() as folder:
        for name, value in measure(Path(folder), count, arguments.delay, arguments.faults).items():
            print(f"{name}: {value:.3g}")


if __name__ == "__main__":
    main()
