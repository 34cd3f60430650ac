"""A local server that speaks OpenAI's protocol for chats, with faults in an order that tests give."""

import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


def _body(text: str, request: dict[str, Any]) -> bytes:
    words = text.split()
    message = {"role": "assistant", "content": " ".join(words) if "\n" not in text else text}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if words else "length"}
    if request.get("logprobs"):
        choice["logprobs"] = {"content": [{"token": word, "logprob": math.log(0.5)} for word in words]}
    body = {
        "model": request["model"],
        "system_fingerprint": "stub-1",
        "choices": [choice],
        "usage": {"prompt_tokens": 10, "completion_tokens": len(words)},
    }
    return json.dumps(body).encode()


@contextmanager
def serving(stub: ChatStub) -> Iterator[ChatStub]:
    """Run the server at a free port while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = stub.take(request, self.headers["Authorization"])
            try:
                self._respond(fault, request)
            finally:
                with stub.lock:
                    stub.under_way -= 1

        def _respond(self, fault: Fault | None, request: dict[str, Any]) -> None:
            body = _body(stub.answer(request["messages"][-1]["content"]), request)
            if isinstance(fault, int):
                body = b"{}"
            elif fault == "garbage":
                body = b"<html>busy</html>"
            self.send_response(fault if isinstance(fault, int) else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)
            self.close_connection = fault == "cut"

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stub.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
