"""How faults of a server are named, and how long they are waited for."""

from typing import Any

import pytest
import requests

from pubmill.errors import PubmillError
from pubmill.extras.ask import chat_server
from pubmill.extras.ask.chat_server import LONGEST_PAUSE, PAUSES, ChatServer

URL = "http://localhost:8000/v1"


class Answered:
    """A response."""

    def __init__(self, body: Any, status: int = 200, later: str | None = None) -> None:
        self.body, self.status_code = body, status
        self.headers = {"Retry-After": later} if later is not None else {}

    def json(self) -> Any:
        if isinstance(self.body, Exception):
            raise self.body
        return self.body


class Session:
    """Returns or raises what a test gives, each time."""

    def __init__(self, what: Any) -> None:
        self.what = what
        self.options: dict[str, Any] = {}

    def post(self, *_: Any, **options: Any) -> Any:
        self.options = options
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def asked(monkeypatch: pytest.MonkeyPatch, what: Any) -> tuple[str, list[float]]:
    """Return the message of a server that always does this, and what was waited for it."""
    waited = list[float]()
    monkeypatch.setattr(chat_server, "_session", lambda: Session(what))
    with pytest.raises(PubmillError) as error:
        ChatServer(url=URL, pause=waited.append).answer({})
    return str(error.value), waited


def answer(content: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}}]}


BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
FORM = "an answer of another form than OpenAI's chat completions"
FAULTS: dict[str, tuple[Any, str]] = {
    "time": (requests.ReadTimeout(), "no answer in time"),
    "connection in time": (requests.ConnectTimeout(), "no answer in time"),
    "connection": (requests.ConnectionError(), "no connection"),
    "broken off": (requests.exceptions.ChunkedEncodingError(), "the answer broke off"),
    **{f"{one}": (Answered({}, one), f"status {one}") for one in BUSY},
    "no JSON": (Answered(ValueError()), FORM),
    "no text": (Answered(answer(None)), FORM),
    "parts": (Answered(answer([{"text": "x"}])), FORM),
    "two answers": (Answered({"choices": answer("x")["choices"] * 2}), FORM),
    "no answers": (Answered({"choices": []}), FORM),
    "an error": (Answered({"error": "x"}), FORM),
    "a list": (Answered(["x"]), FORM),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_is_named_after_all_attempts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, named = FAULTS[name]
    said, waited = asked(monkeypatch, what)
    assert said.startswith(f"{URL}: {named}, {len(PAUSES) + 1} times. Start the server")
    assert waited == list(PAUSES)


@pytest.mark.parametrize(
    ("later", "first", "last"),
    [("3", 3.0, 32.0), ("0.5", 1.0, 32.0), ("-9", 1.0, 32.0), ("soon", 1.0, 32.0), ("", 1.0, 32.0),
     ("9999", LONGEST_PAUSE, LONGEST_PAUSE), (None, 1.0, 32.0)],
)  # fmt: skip
def test_a_server_says_when_to_come_again(
    later: str | None, first: float, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, waited = asked(monkeypatch, Answered({}, 429, later))
    assert (waited[0], waited[-1]) == (first, last)


@pytest.mark.parametrize(("status", "hint"), [(400, ""), (401, "; set "), (403, "; set "), (302, "")])
def test_a_refusal_is_not_asked_again(status: int, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, waited = asked(monkeypatch, Answered({}, status))
    hint = f"{hint}{chat_server.KEY}" if hint else ""
    whole = f"{URL} refuses the request with status {status}{hint}; answers are kept"
    assert (said, waited) == (whole, [])


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_request_is_sent_with_the_key_to_that_address_only(
    key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirection could lead the text to another host."""
    session = Session(Answered(answer("yes")))
    monkeypatch.setattr(chat_server, "_session", lambda: session)
    monkeypatch.delenv(chat_server.KEY, raising=False)
    if key:
        monkeypatch.setenv(chat_server.KEY, key)
    ChatServer(url=URL).answer({"model": "m"})
    assert session.options["headers"] == ({"Authorization": "Bearer secret"} if key else {})
    assert session.options["allow_redirects"] is False and session.options["json"] == {"model": "m"}


@pytest.mark.parametrize(
    ("url", "message"),
    [("ftp://localhost/v1", "expected an address such as"), ("http:///v1", "expected an address such as"),
     ("localhost:8000", "expected an address such as"), ("http://api.example.org", "plain http is for")],
)  # fmt: skip
def test_an_address_is_whole_and_protected(url: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"^--server {url}: {message}"):
        ChatServer(url=url)
    assert ChatServer(url="https://api.example.org").is_hosted
    assert not ChatServer(url=URL).is_hosted
