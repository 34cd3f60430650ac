"""A local server that speaks OpenAI's protocol for chats, with faults in an order that tests give."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests import servers

Fault = int | str
"""A status, or what is wrong: `garbage` for an answer that is no JSON, `cut` for one that breaks off."""


class ChatStub:
    """Answers by a function of the last message; the first requests meet the faults.

    `asked`: how often each prompt was asked; `most_at_once`: the most requests that were under way.
    """

    def __init__(self, answer: Callable[[str], str], faults: Sequence[Fault] = ()) -> None:
        self.answer, self.faults = answer, list(faults)
        self.asked: Counter[str] = Counter()
        self.messages: list[list[dict[str, str]]] = []
        self.headers: list[str | None] = []
        self.under_way, self.most_at_once = 0, 0
        self.lock = threading.Lock()
        self.url = ""

    def take(self, request: dict[str, Any], key: str | None) -> Fault | None:
        """Note a request, and return the fault that it meets, if any."""
        with self.lock:
            self.asked[request["messages"][-1]["content"]] += 1
            self.messages.append(request["messages"])
            self.headers.append(key)
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
            return self.faults.pop(0) if self.faults else None


def _body(stub: ChatStub, request: dict[str, Any]) -> bytes:
    text = stub.answer(request["messages"][-1]["content"])
    words = text.split()
    message = {"role": "assistant", "content": " ".join(words) if "\n" not in text else text}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if words else "length"}
    body = {
        "model": request["model"], "system_fingerprint": "stub-1", "choices": [choice],
        "usage": {"prompt_tokens": 10, "completion_tokens": len(words)},
    }  # fmt: skip
    return json.dumps(body).encode()


@contextmanager
def serving(stub: ChatStub) -> Iterator[ChatStub]:
    def answer(talk: servers.Talk) -> None:
        request = json.loads(talk.sent())
        fault = stub.take(request, talk.headers["Authorization"])
        body = {"garbage": b"<html>busy</html>"}.get(str(fault)) or _body(stub, request)
        body = b"{}" if isinstance(fault, int) else body
        talk.head(f"{fault if isinstance(fault, int) else 200} Said", ("Content-Length", len(body)))
        with stub.lock:
            stub.under_way -= 1
        talk.raw(body[: len(body) // 2] if fault == "cut" else body)

    with servers.serving(answer) as asked:
        stub.url = f"{asked.url}/v1"
        yield stub
