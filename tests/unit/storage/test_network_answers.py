"""Answers that are just within the limits, pauses between attempts, and the errors of each status."""

import gzip
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import network
from pubmill.storage.network import GoneError, fetch
from pubmill.storage.sources import read
from tests.servers import Talk, serving

BODY = b"0123456789" * 30


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that are asked for; nothing waits."""
    asked: list[float] = []
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(time, "sleep", asked.append)
    return asked


def answers(*made: Callable[[Talk], None]) -> Callable[[Talk], None]:
    """Answer the first requests with these, and all later ones with the last."""
    return lambda talk: made[min(talk.number, len(made) - 1)](talk)


def status(line: str, *headers: tuple[str, object]) -> Callable[[Talk], None]:
    return lambda talk: talk.head(line, *headers, ("Content-Length", 0))


def whole(talk: Talk) -> None:
    talk.sound(BODY, '"a"')


def test_attempts_that_bring_something_begin_anew(sleeps: list[float], tmp_path: Path) -> None:
    def cut(talk: Talk) -> None:
        talk.part(BODY, '"a"') if talk.start >= 250 else _cut(talk, talk.start + 50)

    def _cut(talk: Talk, end: int) -> None:
        headers = ("ETag", '"a"'), ("Content-Length", len(BODY) - talk.start)
        content_range = ("Content-Range", f"bytes {talk.start}-{len(BODY) - 1}/{len(BODY)}")
        talk.head("206 Partial" if talk.range else "200 OK", *headers, content_range)
        talk.raw(BODY[talk.start : end])

    with serving(answers(status("503 No"), status("503 No"), cut)) as server:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    assert sleeps == [1, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("asked", "waited"), [("3", 3.0), ("0", 0.0), ("100000", 120.0), ("", 0.0), ("-5", 0.0), ("soon", 0.0)]
)
def test_a_server_may_ask_for_a_pause_of_two_minutes_at_most(
    sleeps: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, waited: float
) -> None:
    monkeypatch.setattr(network, "PAUSES", (0.0, 0.0))
    with serving(answers(status("429 Wait", ("Retry-After", asked)), whole)) as server:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert sleeps == [waited]


@pytest.mark.parametrize(
    ("line", "kind", "requests"),
    [
        ("404 No", GoneError, 1), ("410 Gone", GoneError, 1), ("403 No", PubmillError, 1),
        ("400 No", PubmillError, 1), ("408 Late", PubmillError, 6), ("429 Busy", PubmillError, 6),
        ("500 No", PubmillError, 6), ("599 No", PubmillError, 6),
    ],
)  # fmt: skip
def test_only_answers_that_may_change_are_asked_for_again(
    sleeps: list[float], tmp_path: Path, line: str, kind: type[PubmillError], requests: int
) -> None:
    with serving(status(line)) as server, pytest.raises(PubmillError, match=line[:3]) as caught:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert type(caught.value) is kind and len(server.requests) == requests
    assert sleeps == [1, 2, 4, 8, 16][: requests - 1]  # each pause is twice the last


@pytest.mark.parametrize("declared", [True, False])
def test_a_file_of_just_the_largest_size_is_taken(tmp_path: Path, declared: bool) -> None:
    def answer(talk: Talk) -> None:
        talk.head("200 OK", *([("Content-Length", len(BODY))] if declared else []))
        talk.raw(BODY)

    with serving(answer) as server:
        fetch(f"{server.url}/f", tmp_path / "f", len(BODY))
        assert (tmp_path / "f").read_bytes() == BODY
        with pytest.raises(PubmillError, match="expected at most"):
            fetch(f"{server.url}/f", tmp_path / "g", len(BODY) - 1)


def test_sizes_that_no_file_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 GiB for a file, 64 MiB for a checksum or a listing, which are held in memory."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": len(BODY)}))
    with serving(whole) as server:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == BODY
    size = [0]
    with serving(lambda talk: talk.head("200 OK", ("Content-Length", size[0]))) as server:
        size[0] = (100 << 30) + 1
        with pytest.raises(PubmillError, match=r"expected at most 107,374,182,400$"):
            fetch(f"{server.url}/f", tmp_path / "f")
        size[0] = (64 << 20) + 1
        with pytest.raises(PubmillError, match=r"expected at most 67,108,864$"):
            read(f"{server.url}/f")


def test_a_body_that_is_declared_as_encoded_stays_as_it_was_sent(tmp_path: Path) -> None:
    packed = gzip.compress(BODY)

    def answer(talk: Talk) -> None:
        talk.head("200 OK", ("Content-Encoding", "gzip"), ("Content-Length", len(packed)))
        talk.raw(packed)

    with serving(answer) as server:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == packed
