"""A server that misbehaves: what arrives is the right file, or nothing and a clear reason."""

import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from pubmill.errors import PubmillError
from pubmill.storage import network
from pubmill.storage.sources import download
from tests.attack import attack
from tests.servers import Asked, Talk, serving
from tests.world.dice import Dice

LARGEST = 200_000
REQUESTS = 40
"""Answers after which the server behaves, so that every case ends."""
IMPATIENT: dict[str, Any] = {"PAUSES": (0.0, 0.0, 0.0), "TIMEOUT": (2, 0.2)}
PLACES = (
    "http://example.org/f", "https://127.0.0.1/f", "https://10.1.2.3/f", "https://[::1]/f", "https://169.254.1.1/f",
    "file:///etc/passwd", "https://[::1", "//localhost/f", "https://2130706433:1/f", "\xff", "", "https://a:b/",
)  # fmt: skip


class Server:
    """A file in two versions, and the faults of one case."""

    def __init__(self, dice: Dice, checked: bool) -> None:
        self.dice = dice
        size = dice.pick((0, 1, 1000, 70_000, 150_000)) or 5
        self.versions = [Random(dice.below(1 << 30)).randbytes(size) for _ in range(2)]
        self.now = 0
        self.faults = (*DETECTABLE, *(CHECKED if checked else ()))

    @property
    def data(self) -> bytes:
        return self.versions[self.now]

    @property
    def etag(self) -> str:
        return f'"v{self.now}"'

    def answer(self, talk: Talk) -> None:
        """Behave, or commit one of the faults."""
        if talk.number >= REQUESTS or self.dice.chance(0.3):
            return talk.sound(self.data, self.etag)
        return self.dice.pick(self.faults)(self, talk)


Fault = Callable[[Server, Talk], None]


def cut(server: Server, talk: Talk) -> None:
    talk.head("200 OK", ("ETag", server.etag), ("Content-Length", len(server.data)))
    talk.raw(server.data[: server.dice.below(len(server.data))])


def cut_anywhere(server: Server, talk: Talk) -> None:
    """Close the connection in the headers, or in a line of garbage."""
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
    talk.raw(server.dice.pick((b"", b"\0" * 50, text[: server.dice.below(len(text))])))


def refuse(server: Server, talk: Talk) -> None:
    statuses = ("500 No", "503 Busy", "429 Many", "404 Gone", "403 No", "304 Same", "416 No", "999 ?")
    status, content_range = server.dice.pick(statuses), server.dice.pick(("bytes */0", "bytes */5", "x"))
    talk.head(status, ("Content-Length", 0), ("Content-Range", content_range))


def wrong_range(server: Server, talk: Talk) -> None:
    size, at = len(server.data), server.dice.below(len(server.data) + 2)
    ranges = (f"bytes {at + 1}-{size}/{size}", f"bytes {talk.start}-{talk.start - 1}/{size}", "9" * 5000)
    talk.part(server.data, server.etag, server.dice.pick(ranges))


def unasked_part(server: Server, talk: Talk) -> None:
    if talk.range is None:
        half = len(server.data) // 2
        talk.head("206 Partial", ("Content-Range", f"bytes {half}-{len(server.data) - 1}/{len(server.data)}"))
        talk.raw(server.data[half:])
    else:
        talk.sound(server.data, server.etag)


def star(server: Server, talk: Talk) -> None:
    """Send a part of a file of unstated length, perhaps not up to its end."""
    if talk.range is None or talk.if_range != server.etag or talk.start >= len(server.data):
        return talk.sound(server.data, server.etag)
    end = server.dice.between(talk.start + 1, len(server.data))
    content_range = ("Content-Range", f"bytes {talk.start}-{end - 1}/*")
    talk.head("206 Partial", ("ETag", server.etag), content_range, ("Content-Length", end - talk.start))
    return talk.raw(server.data[talk.start : end])


def change(server: Server, talk: Talk) -> None:
    """The file changes, and a cache that ignores If-Range sends a part of the new one."""
    server.now = 1
    if talk.range and talk.start < len(server.data):
        talk.part(server.data, server.etag)
    else:
        talk.body(server.data, server.etag)


def redirect(server: Server, talk: Talk) -> None:
    elsewhere = f"http://127.0.0.1:{server.dice.between(1, 65535)}/f"
    place = server.dice.pick((*PLACES, "/f", "/elsewhere", elsewhere))
    talk.head("302 Found", ("Location", place), ("Content-Length", 0))


def drip(server: Server, talk: Talk) -> None:
    """Send so slowly that the download would never end."""
    talk.head("200 OK", ("ETag", server.etag), ("Content-Length", len(server.data)))
    until = time.monotonic() + 2
    for number in range(len(server.data)):
        talk.raw(server.data[number : number + 1])
        time.sleep(0.004)
        if not talk.waiting() or time.monotonic() > until:
            break


def flood(server: Server, talk: Talk) -> None:
    """Send more than any file has, with or without saying so."""
    length = server.dice.pick(("", "1" + "0" * 11, "9" * 5000))
    talk.head("200 OK", *([("Content-Length", length)] if length else []))
    for _ in range(10):
        talk.raw(b"x" * 50_000)


def odd_headers(server: Server, talk: Talk) -> None:
    headers = (("ETag", '"\xe9"'), ("ETag", '"a'), ("Last-Modified", "\xe9"), ("Content-Encoding", "gzip"))
    odd = server.dice.pick(headers)
    talk.head("200 \x1b[31mOK", odd, ("Retry-After", "9" * 400), ("Content-Length", len(server.data)))
    talk.raw(server.data)


def chunks(server: Server, talk: Talk) -> None:
    talk.head("200 OK", ("ETag", server.etag), ("Transfer-Encoding", "chunked"))
    talk.raw(f"{len(server.data):x}\r\n".encode() + server.data + b"\r\n")
    talk.raw(server.dice.pick((b"0\r\n\r\n", b"", b"zz\r\n", b"-5\r\n")))


def wrong_body(server: Server, talk: Talk) -> None:
    """Another file under the same name."""
    talk.body(server.dice.pick((b"<html>please sign in</html>", server.data[:-1] + b"?")), server.etag)


def wrong_part(server: Server, talk: Talk) -> None:
    """A part of another file under the ETag of the old one."""
    other = server.versions[1 - server.now]
    talk.part(other, server.etag) if talk.range and talk.start < len(other) else talk.body(other, server.etag)


DETECTABLE: tuple[Fault, ...] = (
    change, chunks, cut, cut_anywhere, drip, flood, odd_headers, redirect, refuse, star, unasked_part,
    wrong_range,
)  # fmt: skip
CHECKED: tuple[Fault, ...] = (wrong_body, wrong_part)
"""Faults that only a checksum finds."""


@attack("downloads", cases=1_000, quick=10)
def misbehaved(dice: Dice, folder: Path) -> str:
    """A server that cuts, drips, floods, redirects and lies about ranges, sizes and versions: the right bytes
    arrive, or none and a message that names the URL."""
    checked = dice.chance(0.5)
    server = Server(dice, checked)
    wanted = {sha256(version).hexdigest() for version in server.versions[: 1 if checked else 2]}
    with (
        patch.multiple(network, **IMPATIENT),
        patch.object(network.fetch, "__defaults__", (LARGEST,)),
        patch.dict(os.environ, {"NO_PROXY": "*"}),
        patch.object(network, "report_progress", lambda text: None),
        patch("pubmill.storage.sources.report_progress", lambda text: None),
        serving(server.answer) as asked,
    ):
        for _ in range(3):
            if fault := _once(asked, folder / "f", wanted if checked else set()):
                return fault
            if (folder / "f").exists():
                break
    if not (folder / "f").exists():
        return ""
    if sha256((folder / "f").read_bytes()).hexdigest() not in wanted:
        return f"wrong bytes after {asked.requests}"
    left = sorted(path.name for path in folder.iterdir())
    return "" if left == ["f", "f.source.json"] else f"left behind: {left}"


def _once(asked: Asked, output: Path, wanted: set[str]) -> str:
    before = len(asked.requests)
    try:
        download(f"{asked.url}/f", output, sha256=next(iter(wanted), None))
    except PubmillError as error:
        if output.exists():
            return f"a file in spite of {error}"
        if asked.url not in str(error):
            return f"a message that doesn't name the URL: {error}"
    return "" if len(asked.requests) - before < 4 * REQUESTS else "asked without end"
