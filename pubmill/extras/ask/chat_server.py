"""A server of a language model that speaks OpenAI's protocol for chats, as vLLM and llama.cpp do."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import requests

from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress

KEY = "PUBMILL_API_KEY"
"""Environment variable with the key of a server that wants one."""
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Seconds before the next attempt at a request."""
LONGEST_PAUSE = 300.0
"""Seconds; upper limit for a server's Retry-After."""
TIMEOUT = (20, 600)
"""Seconds to connect, seconds without a byte."""
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True, kw_only=True)
class ChatServer:
    """Where a model is asked. `url`: the base of its addresses, which ends in /v1 as a rule."""

    url: str
    pause: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise PubmillError(f"--server {self.url}: expected an address such as http://localhost:8000/v1")
        if parts.scheme == "http" and self.is_hosted:
            raise PubmillError(f"--server {self.url}: plain http is for private networks; expected https")

    @property
    def is_hosted(self) -> bool:
        """Return whether the server may be of somebody else: its host is no private address."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ip_address(host).is_global
        except ValueError:
            return host != "localhost" and not host.endswith(".localhost")

    def answer(self, request: Mapping[str, object]) -> dict[str, Any]:
        """Return the body of the answer to a chat request. Retries after temporary failures; if they
        last, or after any other, raises a `PubmillError`, which quotes neither request nor answer."""
        for pause in (*PAUSES, None):
            try:
                return self._post(request)
            except _LaterError as error:
                if pause is None:
                    raise PubmillError(
                        f"{self.url}: {error}, {len(PAUSES) + 1} times. Start the server, or ask fewer at "
                        "once (--at-once); the same command continues"
                    ) from None
                wait = max(pause, min(error.wait, LONGEST_PAUSE))
                report_progress(f"{self.url}: {error}; trying again in {wait:.0f} s")
                self.pause(wait)
        raise AssertionError

    def _post(self, request: Mapping[str, object]) -> dict[str, Any]:
        key = os.environ.get(KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            response = _session().post(
                f"{self.url.rstrip('/')}/chat/completions",
                json=request, headers=headers, timeout=TIMEOUT, allow_redirects=False,
            )  # fmt: skip
        except requests.Timeout:
            raise _LaterError("no answer in time") from None
        except requests.ConnectionError:
            raise _LaterError("no connection") from None
        except requests.RequestException:
            raise _LaterError("the answer broke off") from None
        status = response.status_code
        if status in AGAIN:
            raise _LaterError(f"status {status}", _seconds(response.headers.get("Retry-After")))
        if status != requests.codes.ok:
            hint = f"; set {KEY}" if status in (401, 403) else ""
            raise PubmillError(f"{self.url} refuses the request with status {status}{hint}; answers are kept")
        try:
            body: dict[str, Any] = response.json()
            [choice] = body["choices"]
            if not isinstance(choice["message"]["content"], str):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            raise _LaterError("an answer of another form than OpenAI's chat completions") from None
        return body


_HERE = threading.local()


def _session() -> requests.Session:
    """Return this thread's own session, so that its requests share a connection. Not that of downloads, whose
    answers must begin within two minutes."""
    if not hasattr(_HERE, "session"):
        _HERE.session = requests.Session()
    session: requests.Session = _HERE.session
    return session


class _LaterError(Exception):
    """A failed attempt that may succeed if repeated, after at least `wait` seconds."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


def _seconds(text: str | None) -> float:
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0
