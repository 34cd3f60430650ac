"""Answers of a language model, stored as they come: a JSON line for each, in the form of OpenAI's batches.
`pubmill score` reads these files as they are. A line has the example's id, the SHA-256 of its request, and
the body of the answer; the requests themselves are in a file of their own."""

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.extras.ask.chat_server import ChatServer
from pubmill.formats.json_text import parse_row
from pubmill.messages.progress import report_progress
from pubmill.predictions.free_answers import tokens_of
from pubmill.recipes.submissions import Budget
from pubmill.storage.files import writing

Requests = Mapping[str, Mapping[str, object]]
"""Id of an example -> its request."""
REPORTED = 20.0
"""Seconds between lines of progress."""


def request_digest(request: Mapping[str, object]) -> str:
    """Return the digest by which answers name their requests."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _line(row: Mapping[str, object]) -> str:
    """Format a row in ASCII: an answer may have half a surrogate pair, or characters that end lines."""
    return json.dumps(row) + "\n"


def read_answers(path: Path, requests: Requests) -> dict[str, dict[str, Any]]:
    """Return the answers in a file by example; a line that was cut off by a kill is removed. Answers to other
    requests than these raise a `PubmillError`: they belong to another prompt or model."""
    if not path.is_file():
        return {}
    content = path.read_bytes()
    if not content.endswith(b"\n"):
        content = content[: content.rfind(b"\n") + 1]
        with path.open("r+b") as file:
            file.truncate(len(content))
    answers = dict[str, dict[str, Any]]()
    for number, line in enumerate(content.decode("ascii").splitlines(), 1):
        row = parse_row(line, f"{path}:{number}")
        name = str(row.get("custom_id"))
        if name not in requests or row.get("request") != request_digest(requests[name]):
            raise PubmillError(
                f"{path}:{number} is the answer to another request than this command's: another model, "
                "prompt, setting or version of the dataset. Give another folder, or delete the file"
            )
        answers[name] = row
    return answers


def ask_all(requests: Requests, server: ChatServer, path: Path, at_once: int, budget: Budget) -> int:
    """Send the requests without an answer in the file, at most `at_once` at a time; return how many remain
    without one because the budget is spent. Answers that the file already has count towards the budget.

    Each answer is on the disk before another request begins. After an error no new request begins; answers to
    requests under way are still stored. The complete file has the order of the examples.
    """
    known = read_answers(path, requests)
    left = [name for name in requests if name not in known]
    allowed = left if budget.requests is None else left[: max(0, budget.requests - len(known))]
    used = sum(sum(tokens_of(row["response"]["body"])) for row in known.values())
    tokens = None if budget.tokens is None else budget.tokens - used
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for name, body in _answers(requests, allowed, server, at_once, tokens):
            response, request = {"status_code": 200, "body": body}, request_digest(requests[name])
            file.write(_line({"custom_id": name, "request": request, "response": response}))
            file.flush()
            os.fsync(file.fileno())
    answers = read_answers(path, requests)
    if len(answers) == len(requests):
        with writing(path) as temporary, temporary.open("w", encoding="utf-8") as whole:
            whole.writelines(_line(answers[name]) for name in requests)
    return len(requests) - len(answers)


def _answers(
    requests: Requests, names: list[str], server: ChatServer, at_once: int, tokens: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield answers as they come. At most `at_once` requests are under way, and none begins after an error or
    once `tokens` tokens were used."""
    waiting, under_way = list(reversed(names)), dict[Future[dict[str, Any]], str]()
    used, done, reported = 0, 0, time.monotonic()
    error: BaseException | None = None
    with ThreadPoolExecutor(at_once, "asking") as pool:
        while True:
            may_ask = error is None and (tokens is None or used < tokens)
            while may_ask and waiting and len(under_way) < at_once:
                name = waiting.pop()
                under_way[pool.submit(server.answer, requests[name])] = name
            if not under_way:
                break
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                name = under_way.pop(future)
                if fault := future.exception():
                    error = error or fault
                    continue
                used, done = used + sum(tokens_of(future.result())), done + 1
                yield name, future.result()
            if time.monotonic() - reported > REPORTED:
                reported = time.monotonic()
                report_progress(f"{done} of {len(names)} answers")
    if error:
        raise error
