"""Servers with wrong ranges, sizes or locations, and slow servers."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import network
from pubmill.storage.network import fetch
from tests.servers import Talk, serving

OLD, NEW = bytes(range(256)) * 400, bytes(reversed(range(256))) * 400
HALF = len(OLD) // 2


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(network, "PAUSES", (0.0, 0.0))


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
