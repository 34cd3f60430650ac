"""Servers with wrong ranges, sizes, locations or statuses, slow servers, and pauses between attempts."""

import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from pubmill.errors import PubmillError
from pubmill.storage import network
from pubmill.storage.network import PAUSES, GoneError, fetch
from pubmill.storage.sources import read
from tests.servers import Talk, serving

OLD, NEW = bytes(range(256)) * 400, bytes(reversed(range(256))) * 400
HALF = len(OLD) // 2
SHORT = b"0123456789" * 30


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(network, "PAUSES", (0.0, 0.0))


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that are asked for, as long as usual; nothing waits."""
    asked: list[float] = []
    monkeypatch.setattr(network, "PAUSES", PAUSES)
    monkeypatch.setattr(time, "sleep", asked.append)
    return asked


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """Return the first half of the old file, as left by a killed attempt."""
    path = tmp_path / "f.part"
    path.write_bytes(OLD[:HALF])
    (tmp_path / "f.part.validator").write_text('"old"')
    return path


def fetched(answer: Callable[[Talk], None], part: Path, **limits: int) -> list[str | None]:
    """Fetch a file from a server into `part`; the ranges that were asked for."""
    with serving(answer) as server:
        fetch(f"{server.url}/f", part, **limits)
        return server.ranges()


def test_a_part_of_another_file_begins_anew(part: Path) -> None:
    """A cache that ignores If-Range answers 206 with another ETag: the halves would not match."""

    def answer(talk: Talk) -> None:
        talk.part(NEW, '"new"') if talk.range else talk.body(NEW, '"new"')

    assert fetched(answer, part) == [f"bytes={HALF}-", None]
    assert part.read_bytes() == NEW


def test_a_part_of_a_file_of_another_day_begins_anew(part: Path) -> None:
    (part.parent / "f.part.validator").write_text("Mon, 01 Jan 2024 00:00:00 GMT")

    def answer(talk: Talk) -> None:
        day = ("Last-Modified", "Tue, 02 Jan 2024 00:00:00 GMT")
        content_range = ("Content-Range", f"bytes {HALF}-{len(NEW) - 1}/{len(NEW)}")
        talk.head("206 Partial", day, content_range) if talk.range else talk.head("200 OK", day)
        talk.raw(NEW[talk.start :])

    fetched(answer, part)
    assert part.read_bytes() == NEW


@pytest.mark.parametrize(
    "content_range", ["bytes 5-9/3", f"bytes {HALF}-{HALF - 1}/{2 * HALF}", "bytes */*", "9" * 5000]
)
def test_a_range_that_cannot_be_begins_anew(part: Path, content_range: str) -> None:
    fetched(
        lambda talk: talk.part(OLD, '"old"', content_range) if talk.range else talk.body(OLD, '"old"'), part
    )
    assert part.read_bytes() == OLD


def test_parts_that_were_not_asked_for_or_are_too_long_are_refused(part: Path, tmp_path: Path) -> None:
    def answer(talk: Talk) -> None:
        content_range = ("Content-Range", f"bytes {HALF}-{2 * HALF - 1}/{2 * HALF}")
        talk.head("206 Partial", ("ETag", '"old"'), content_range)
        talk.raw(OLD[HALF:] + b"more")

    with pytest.raises(PubmillError, match=f"more than {2 * HALF:,} bytes came"):
        fetched(answer, part)
    (tmp_path / "f.part").write_bytes(NEW[:HALF])
    content_range = f"bytes {HALF}-{len(OLD) - 1}/{len(OLD)}"
    with pytest.raises(PubmillError, match="asked for the whole file, got 'bytes"):
        fetched(lambda talk: talk.part(OLD, '"old"', content_range), tmp_path / "f.part")


def test_answers_that_are_no_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="416"):
        fetched(lambda talk: talk.head("416 No", ("Content-Range", "bytes */0")), tmp_path / "f.part")
    with pytest.raises(PubmillError, match="the answer is empty; gave up after 3 attempts"):
        fetched(lambda talk: talk.raw(b"HTTP/1.1 200 OK\r\nETag"), tmp_path / "f.part")


def test_a_damaged_validator_is_forgotten(part: Path) -> None:
    (part.parent / "f.part.validator").write_bytes(b'"old\xff"\r\nHost: other')
    assert fetched(lambda talk: talk.sound(OLD, '"old"'), part) == [None]
    assert part.read_bytes() == OLD


def test_redirects_within_a_host_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    def answer(talk: Talk) -> None:
        if talk.path == "/f":
            return talk.head("301 Moved", ("Location", "/g"), ("Content-Length", 0))
        return talk.sound(OLD, '"old"')

    fetched(answer, tmp_path / "f.part")
    assert (tmp_path / "f.part").read_bytes() == OLD
    with pytest.raises(PubmillError, match="cannot be fetched: Exceeded 30 redirects"):
        fetched(
            lambda talk: talk.head("302 Found", ("Location", "/f"), ("Content-Length", 0)), tmp_path / "g"
        )


def test_the_part_grows_while_it_comes(tmp_path: Path) -> None:
    """Each piece is in the file before the server sends the next: a kill loses none of them."""
    sizes: list[int] = []
    part = tmp_path / "f.part"

    def answer(talk: Talk) -> None:
        talk.head("200 OK", ("ETag", '"old"'), ("Content-Length", 3000))
        for number in range(3):
            talk.raw(OLD[number * 1000 : number * 1000 + 1000])
            if number == 2:
                return  # the client closes as soon as it has the last piece
            while not part.is_file() or part.stat().st_size < number * 1000 + 1000:
                if not talk.waiting():
                    return
                time.sleep(0.001)
            sizes.append(part.stat().st_size)

    fetched(answer, part)
    assert sizes == [1000, 2000] and part.stat().st_size == 3000


def test_a_body_that_the_disk_cannot_take_is_refused_at_once(part: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(PubmillError, match=f"has {len(OLD):,} bytes; the disk .* has room for {HALF + 10:,}"):
        fetched(lambda talk: talk.sound(OLD, '"old"'), part)
    assert part.read_bytes() == OLD[:HALF]


def answers(*made: Callable[[Talk], None]) -> Callable[[Talk], None]:
    """Answer the first requests with these, and all later ones with the last."""
    return lambda talk: made[min(talk.number, len(made) - 1)](talk)


def status(line: str, *headers: tuple[str, object]) -> Callable[[Talk], None]:
    return lambda talk: talk.head(line, *headers, ("Content-Length", 0))


def whole(talk: Talk) -> None:
    talk.sound(SHORT, '"a"')


def test_attempts_that_bring_something_begin_anew(sleeps: list[float], tmp_path: Path) -> None:
    def cut(talk: Talk) -> None:
        talk.part(SHORT, '"a"') if talk.start >= 250 else _cut(talk, talk.start + 50)

    def _cut(talk: Talk, end: int) -> None:
        headers = ("ETag", '"a"'), ("Content-Length", len(SHORT) - talk.start)
        content_range = ("Content-Range", f"bytes {talk.start}-{len(SHORT) - 1}/{len(SHORT)}")
        talk.head("206 Partial" if talk.range else "200 OK", *headers, content_range)
        talk.raw(SHORT[talk.start : end])

    fetched(answers(status("503 No"), status("503 No"), cut), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == SHORT
    assert sleeps == [1, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("asked", "waited"), [("3", 3.0), ("0", 0.0), ("100000", 120.0), ("", 0.0), ("-5", 0.0), ("soon", 0.0)]
)
def test_a_server_may_ask_for_a_pause_of_two_minutes_at_most(
    sleeps: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, waited: float
) -> None:
    monkeypatch.setattr(network, "PAUSES", (0.0, 0.0))
    fetched(answers(status("429 Wait", ("Retry-After", asked)), whole), tmp_path / "f")
    assert sleeps == [waited]


@pytest.mark.parametrize(("line", "kind", "requests"), [
    ("404 No", GoneError, 1), ("410 Gone", GoneError, 1), ("403 No", PubmillError, 1),
    ("400 No", PubmillError, 1), ("408 Late", PubmillError, 6), ("429 Busy", PubmillError, 6),
    ("500 No", PubmillError, 6), ("599 No", PubmillError, 6),
])  # fmt: skip
def test_only_answers_that_may_change_are_asked_for_again(
    sleeps: list[float], tmp_path: Path, line: str, kind: type[PubmillError], requests: int
) -> None:
    with serving(status(line)) as server, pytest.raises(PubmillError, match=line[:3]) as caught:
        fetch(f"{server.url}/f", tmp_path / "f")
    assert type(caught.value) is kind and len(server.requests) == requests
    assert sleeps == [1, 2, 4, 8, 16][: requests - 1]  # each pause is twice the last


@pytest.mark.parametrize("error", [requests.ConnectionError(), requests.ConnectionError("cut off")])
def test_a_broken_connection_is_named_whatever_its_error_says(
    sleeps: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(requests.Session, "get", broken)
    with pytest.raises(PubmillError, match=f"connection failed: {error}"):
        fetch("https://localhost/f", tmp_path / "f")


@pytest.mark.parametrize("declared", [True, False])
def test_a_file_of_just_the_largest_size_is_taken(tmp_path: Path, declared: bool) -> None:
    def answer(talk: Talk) -> None:
        talk.head("200 OK", *([("Content-Length", len(SHORT))] if declared else []))
        talk.raw(SHORT)

    fetched(answer, tmp_path / "f", largest=len(SHORT))
    assert (tmp_path / "f").read_bytes() == SHORT
    with pytest.raises(PubmillError, match="expected at most"):
        fetched(answer, tmp_path / "g", largest=len(SHORT) - 1)


def test_sizes_that_no_file_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 GiB for a file, 64 MiB for a checksum or a listing, which are held in memory."""
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": len(SHORT)}))
    fetched(whole, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == SHORT
    with pytest.raises(PubmillError, match=r"expected at most 107,374,182,400$"):
        fetched(lambda talk: talk.head("200 OK", ("Content-Length", (100 << 30) + 1)), tmp_path / "f")
    with serving(lambda talk: talk.head("200 OK", ("Content-Length", (64 << 20) + 1))) as server:
        with pytest.raises(PubmillError, match=r"expected at most 67,108,864$"):
            read(f"{server.url}/f")


def test_a_body_that_is_declared_as_encoded_stays_as_it_was_sent(tmp_path: Path) -> None:
    packed = gzip.compress(SHORT)

    def answer(talk: Talk) -> None:
        talk.head("200 OK", ("Content-Encoding", "gzip"), ("Content-Length", len(packed)))
        talk.raw(packed)

    fetched(answer, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == packed
