"""Servers with wrong ranges, sizes or locations, and slow servers."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
import urllib3

from pubmill.errors import PubmillError
from pubmill.storage import connections, network
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


def test_a_part_of_unknown_length_is_followed_to_its_end(part: Path) -> None:
    """`bytes a-b/*` does not say whether the file ends at b, so what follows is asked for."""

    def answer(talk: Talk) -> None:
        if talk.start == HALF:
            rest = OLD[HALF : HALF + 1000]
            content_range = ("Content-Range", f"bytes {HALF}-{HALF + 999}/*")
            talk.head("206 Partial", ("ETag", '"old"'), content_range, ("Content-Length", len(rest)))
            return talk.raw(rest)
        return talk.sound(OLD, '"old"')

    assert fetched(answer, part) == [f"bytes={HALF}-", f"bytes={HALF + 1000}-"]
    assert part.read_bytes() == OLD


@pytest.mark.parametrize(
    "content_range", ["bytes 5-9/3", f"bytes {HALF}-{HALF - 1}/{2 * HALF}", "bytes */*", "9" * 5000]
)
def test_a_range_that_cannot_be_begins_anew(part: Path, content_range: str) -> None:
    fetched(
        lambda talk: talk.part(OLD, '"old"', content_range) if talk.range else talk.body(OLD, '"old"'), part
    )
    assert part.read_bytes() == OLD


def test_a_part_that_was_not_asked_for_is_refused(tmp_path: Path) -> None:
    """Without a validator, the first half may be outdated, whatever the server sends."""
    (tmp_path / "f.part").write_bytes(NEW[:HALF])
    content_range = f"bytes {HALF}-{len(OLD) - 1}/{len(OLD)}"
    with pytest.raises(PubmillError, match="asked for the whole file, got 'bytes"):
        fetched(lambda talk: talk.part(OLD, '"old"', content_range), tmp_path / "f.part")


def test_416_for_no_range_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="416"):
        fetched(lambda talk: talk.head("416 No", ("Content-Range", "bytes */0")), tmp_path / "f.part")


def test_a_damaged_validator_is_forgotten(part: Path) -> None:
    (part.parent / "f.part.validator").write_bytes(b'"old\xff"\r\nHost: other')
    assert fetched(lambda talk: talk.sound(OLD, '"old"'), part) == [None]
    assert part.read_bytes() == OLD


def refused(location: str, part: Path) -> str:
    """What is said of a redirect that must not be followed."""
    with pytest.raises(PubmillError) as caught:
        fetched(lambda talk: talk.head("302 Found", ("Location", location), ("Content-Length", 0)), part)
    return str(caught.value)


@pytest.mark.parametrize(
    "location",
    [
        "http://example.org/f", "http://127.0.0.1:1/f", "https://127.0.0.1/f", "https://localhost/f",
        "https://[::1]/f", "https://[::ffff:10.0.0.1]/f", "https://169.254.169.254/latest", "https://10.0.0.1/f",
        "https://192.168.1.1/f", "https://[fe80::1]/f", "file:///etc/passwd", "ftp://example.org/f", "https:///f",
    ],
)  # fmt: skip
def test_redirects_to_this_machine_its_network_or_plain_http_are_refused(
    tmp_path: Path, location: str
) -> None:
    message = refused(location, tmp_path / "f.part")
    assert f"redirects to {location!r}; expected https:// and a public address" in message


@pytest.mark.parametrize("location", ["https://[::1/f", "https://a:b/f", "\xff\xfe"])
def test_redirects_to_what_is_no_url_are_refused(tmp_path: Path, location: str) -> None:
    assert "redirects to" in refused(location, tmp_path / "f.part")


@pytest.mark.parametrize("host", ["2130706433", "127.1", "elsewhere.example.org"])
def test_a_name_of_a_private_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    """The address of a name is checked once the connection is open, before anything is sent."""
    came: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    found = socket.getaddrinfo
    lead = {"elsewhere.example.org": "127.0.0.1"}
    monkeypatch.setattr(socket, "getaddrinfo", lambda name, *more: found(lead.get(name, name), *more))
    message = refused(f"https://{host}:{port}/f", tmp_path / "f.part")
    assert f"{host} is at 127.0.0.1, which is not a public address" in message
    connection, _ = listening.accept()
    came.append(connection.recv(1))
    assert came == [b""]


def test_a_redirect_within_a_host_is_followed(tmp_path: Path) -> None:
    def answer(talk: Talk) -> None:
        if talk.path == "/f":
            return talk.head("301 Moved", ("Location", "/g"), ("Content-Length", 0))
        return talk.sound(OLD, '"old"')

    fetched(answer, tmp_path / "f.part")
    assert (tmp_path / "f.part").read_bytes() == OLD


def test_redirects_that_go_round_end(tmp_path: Path) -> None:
    assert "redirected more than 10 times" in refused("/f", tmp_path / "f.part")


def drip(talk: Talk) -> None:
    """One byte after another, for ever."""
    talk.head("200 OK", ("ETag", '"old"'), ("Content-Length", len(OLD)))
    while talk.waiting():
        talk.raw(b"x")
        time.sleep(0.005)


def test_a_server_that_drips_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "SPEED_OVER", 0.05)
    monkeypatch.setattr(network, "LEAST_SPEED", 1 << 20)
    with pytest.raises(PubmillError, match=r"only \d+ bytes came in \d+ seconds; gave up after 3 attempts"):
        fetched(drip, tmp_path / "f.part")


def test_an_answer_that_never_begins_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER", 0.05)

    def answer(talk: Talk) -> None:
        talk.raw(b"HTTP/1.1 200 OK\r\nX: ")
        while talk.waiting():
            talk.raw(b"x")
            time.sleep(0.005)

    with pytest.raises(PubmillError, match="gave up after 3 attempts with 0 bytes"):
        fetched(answer, tmp_path / "f.part")


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


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_larger_than_any_file_is_refused(tmp_path: Path, declared: bool) -> None:
    def answer(talk: Talk) -> None:
        talk.head("200 OK", *([("Content-Length", 10**12)] if declared else []))
        while talk.waiting():
            talk.raw(OLD)

    with pytest.raises(PubmillError, match="at most 150,000" if declared else "more than 150,000 bytes came"):
        fetched(answer, tmp_path / "f.part", largest=150_000)
    assert not (tmp_path / "f.part").exists()


def test_a_body_that_the_disk_cannot_take_is_refused_at_once(part: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10}))
    with pytest.raises(PubmillError, match=f"has {len(OLD):,} bytes; the disk .* has room for {HALF + 10:,}"):
        fetched(lambda talk: talk.sound(OLD, '"old"'), part)
    assert part.read_bytes() == OLD[:HALF]


def test_a_part_that_is_longer_than_it_says_is_refused(part: Path) -> None:
    def answer(talk: Talk) -> None:
        content_range = ("Content-Range", f"bytes {HALF}-{2 * HALF - 1}/{2 * HALF}")
        talk.head("206 Partial", ("ETag", '"old"'), content_range)
        talk.raw(OLD[HALF:] + b"more")

    with pytest.raises(PubmillError, match=f"more than {2 * HALF:,} bytes came"):
        fetched(answer, part)


def test_an_answer_cut_in_its_headers_is_no_empty_file(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="the answer is empty; gave up after 3 attempts"):
        fetched(lambda talk: talk.raw(b"HTTP/1.1 200 OK\r\nETag"), tmp_path / "f.part")


def test_a_failed_connection_is_described_without_the_names_of_classes() -> None:
    connection = urllib3.connection.HTTPSConnection("nowhere.org", 443)
    reason = urllib3.exceptions.NameResolutionError("nowhere.org", connection, socket.gaierror(-2, "unknown"))
    pool = urllib3.connectionpool.HTTPSConnectionPool("nowhere.org")
    error = requests.ConnectionError(urllib3.exceptions.MaxRetryError(pool, "/x", reason))
    assert network._underlying_error(error) == "Failed to resolve 'nowhere.org' ([Errno -2] unknown)"
