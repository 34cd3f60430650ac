"""Downloads over a local HTTP server that misbehaves on request, from mirrors, and from this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import network
from pubmill.storage.files import read_json
from pubmill.storage.sources import check, download, published_md5, read
from tests.servers import Talk, serving
from tests.unit.storage.mirrored import BODY, GIT_BLOB, MD5, SHA256, URL, make_mirror, names

ROOT = Path(__file__).resolve().parents[3]
HEX = "0123456789abcdef" * 2


@dataclass
class Server:
    """The server's files and its next faults, one per request of a file."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    etags: dict[str, str] = field(default_factory=dict)
    faults: list[Any] = field(default_factory=list)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    pause: float = 0.0

    def ranges(self, path: str) -> list[str | None]:
        return [asked for requested, asked in self.requests if requested == path]

    def answer(self, talk: Talk) -> None:
        """Send a file, or commit the next fault: a status, another body, or an end after half of the rest."""
        self.requests.append((talk.path, talk.range))
        body, etag = self.files.get(talk.path), self.etags.get(talk.path, '"one"')
        if body is None:
            return talk.head("404 Not Found", ("Content-Length", 0))
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            return talk.head(f"{fault} No", ("Retry-After", 0), ("Content-Length", 0))
        if fault != "cut" and not self.pause:
            return talk.sound(fault or body, etag)
        start = talk.start if talk.if_range == etag else 0
        rest = body[start:]
        content_range = ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        status = "206 Partial" if start else "200 OK"
        talk.head(status, ("ETag", etag), content_range, ("Content-Length", len(rest)))
        sent = rest[: len(rest) // 2] if fault == "cut" else rest
        for place in range(0, len(sent), 50_000):
            talk.raw(sent[place : place + 50_000])
            time.sleep(self.pause)
        return None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(network, "PAUSES", (0.0, 0.0, 0.0))
    state = Server(files={"/f.gz": BODY, "/f.gz.md5": f"MD5(f.gz)= {MD5}\n".encode()})
    with serving(state.answer) as asked:
        state.url = asked.url
        yield state


def test_a_file_arrives_whole_with_its_record(server: Server, tmp_path: Path) -> None:
    output = tmp_path / "HOST" / "f.gz"
    download(f"{server.url}/f.gz", output, sha256=SHA256.upper(), md5_beside=True)
    assert output.read_bytes() == BODY
    assert names(output.parent) == ["f.gz", "f.gz.source.json"]
    record = read_json(output.parent / "f.gz.source.json")
    assert record.pop("retrieved").endswith("+00:00")
    url = f"{server.url}/f.gz"
    assert record == {"url": url, "bytes": len(BODY), "sha256": SHA256, "md5": MD5, "origin": "network"}


def test_a_cut_connection_goes_on_where_it_was(server: Server, tmp_path: Path) -> None:
    server.faults = ["cut", "cut"]
    download(f"{server.url}/f.gz", tmp_path / "f.gz", sha256=SHA256)
    assert (tmp_path / "f.gz").read_bytes() == BODY
    half, more = len(BODY) // 2, len(BODY) // 2 + len(BODY) // 4
    assert server.ranges("/f.gz") == [None, f"bytes={half}-", f"bytes={more}-"]


@pytest.mark.parametrize(("part", "validator", "ranges"), [
    (b"older half", '"zero"', None),  # the file changed meanwhile
    (BODY, '"one"', [f"bytes={len(BODY)}-"]),  # whole already
    (BODY + b"more", '"one"', None),
    (b"damaged", '"one"', ["bytes=7-", None]),
])  # fmt: skip
def test_any_part_of_an_earlier_attempt_ends_with_the_whole_file(
    server: Server, tmp_path: Path, part: bytes, validator: str, ranges: list[str | None] | None
) -> None:
    (tmp_path / "f.gz.part").write_bytes(part)
    (tmp_path / "f.gz.part.validator").write_text(validator)
    download(f"{server.url}/f.gz", tmp_path / "f.gz", md5_beside=True)
    assert (tmp_path / "f.gz").read_bytes() == BODY
    assert names(tmp_path) == ["f.gz", "f.gz.source.json"]
    assert ranges in (None, server.ranges("/f.gz"))


def test_without_a_strong_validator_nothing_is_resumed(server: Server, tmp_path: Path) -> None:
    server.etags["/f.gz"] = 'W/"weak"'
    server.faults = ["cut"]
    download(f"{server.url}/f.gz", tmp_path / "f.gz", sha256=SHA256)
    assert server.ranges("/f.gz") == [None, None]


def test_damaged_bodies_are_retried(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = BODY[:500_000] + b"?" + BODY[500_001:]
    server.faults = [None, damaged, damaged]
    download(f"{server.url}/f.gz", tmp_path / "f.gz", md5_beside=True)
    assert (tmp_path / "f.gz").read_bytes() == BODY
    assert server.ranges("/f.gz") == [None, None, None]
    assert capsys.readouterr().err.count("the checksum is wrong") == 2


def test_a_missing_file_is_reported_at_once_and_says_how_to_go_on(server: Server, tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"/gone\.gz: the server answers 404"):
        download(f"{server.url}/gone.gz", tmp_path / "gone.gz")
    assert len(server.requests) == 1
    assert names(tmp_path) == []
    del server.files["/f.gz.md5"]
    with pytest.raises(PubmillError, match=r"f\.gz\.md5: the server answers 404"):
        download(f"{server.url}/f.gz", tmp_path / "f.gz", md5_beside=True)
    assert server.ranges("/f.gz") == []
    with pytest.raises(PubmillError, match=r"answers 404.*numbers them anew.*sources pubmed.*corpus\.lock"):
        download(f"{server.url}/baseline/pubmed19n0001.xml.gz", tmp_path / "x.gz", md5_beside=True)


@pytest.mark.parametrize("checked", [{"sha256": SHA256}, {"md5_beside": True}, {"git_blob": GIT_BLOB}])
def test_a_wrong_body_is_refused(server: Server, tmp_path: Path, checked: dict[str, Any]) -> None:
    server.files["/f.gz"] = b"<html>please sign in</html>"
    with pytest.raises(PubmillError) as caught:
        download(f"{server.url}/f.gz", tmp_path / "f.gz", **checked)
    assert len(server.ranges("/f.gz")) == 3
    assert "fetched 3 times" in str(caught.value)
    assert names(tmp_path) == []
    expected = MD5 if "md5_beside" in checked else next(iter(checked.values()))
    assert f"{server.url}/f.gz" in str(caught.value) and f"expected {expected}, found" in str(caught.value)


def test_unreachable_hosts_and_plain_http_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(network, "PAUSES", (0.0,))
    with pytest.raises(PubmillError, match=r"gave up after 2 attempts with 0 bytes(.|\n)*mirror"):
        download("http://127.0.0.1:9/f.gz", tmp_path / "f.gz")
    assert names(tmp_path) == []
    with pytest.raises(PubmillError, match="only https"):
        download("http://example.org/f.gz", tmp_path / "f.gz")


def test_killed_and_run_again_gives_the_same_bytes(server: Server, tmp_path: Path) -> None:
    server.pause = 0.05
    output = tmp_path / "f.gz"
    script = [sys.executable, "-m", "pubmill.job", "download", "--url", f"{server.url}/f.gz"]
    command = [*script, "--output", str(output), "--sha256", SHA256]
    running = subprocess.Popen(command)
    part = tmp_path / "f.gz.part"
    while running.poll() is None and not (part.is_file() and part.stat().st_size > 0):
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert not output.exists() and 0 < part.stat().st_size < len(BODY)
    received = part.stat().st_size
    server.pause = 0.0
    subprocess.run(command, check=True)
    assert output.read_bytes() == BODY
    assert server.ranges("/f.gz")[-1] == f"bytes={received}-"
    assert names(tmp_path) == ["f.gz", "f.gz.source.json"]


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    return make_mirror(tmp_path)


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_mirror_stands_in_for_the_network(mirror: Path, tmp_path: Path, form: str) -> None:
    output = tmp_path / "out" / "f.gz"
    download(URL, output, mirror=form.format(mirror), sha256=SHA256, md5_beside=True)
    assert output.read_bytes() == BODY
    assert names(output.parent) == ["f.gz", "f.gz.source.json"]
    assert json.loads((output.parent / "f.gz.source.json").read_text())["origin"] == "mirror"


def test_files_that_the_mirror_lacks_or_damaged_ones_are_refused(mirror: Path, tmp_path: Path) -> None:
    with pytest.raises(PubmillError) as caught:
        download(f"{URL}x", tmp_path / "out" / "f.gz", mirror=str(mirror))
    assert str(mirror / "ftp.example.org/pubmed/baseline/f.gzx") in str(caught.value)
    assert f"fetch {URL}x" in str(caught.value)
    with pytest.raises(PubmillError, match="is not a folder"):
        download(URL, tmp_path / "out" / "f.gz", mirror=str(tmp_path / "nowhere"))
    (mirror / "ftp.example.org/pubmed/baseline/f.gz").write_bytes(BODY[:-1])
    with pytest.raises(PubmillError, match=f"expected {MD5}, found"):
        download(URL, tmp_path / "out" / "f.gz", mirror=str(mirror), md5_beside=True)
    assert names(tmp_path / "out") == []
    (tmp_path / "secret").write_text("secret")
    for path in ("/../../secret", "/%2e%2e/%2e%2e/secret"):
        with pytest.raises(PubmillError, match="not allowed"):
            read(f"https://ftp.example.org{path}", str(mirror))


def test_a_local_file_is_copied_for_its_owner_alone(mirror: Path, tmp_path: Path) -> None:
    path = mirror / "ftp.example.org/pubmed/baseline/f.gz"
    download(f"file://{path}", tmp_path / "out" / "f.gz", mirror=str(mirror), md5_beside=True)
    assert (tmp_path / "out" / "f.gz").read_bytes() == BODY
    assert json.loads((tmp_path / "out" / "f.gz.source.json").read_text())["origin"] == "local"
    with pytest.raises(PubmillError, match="does not exist; check the path"):
        download(f"file://{path}x", tmp_path / "out" / "g.gz")
    before = os.umask(0o022)
    try:
        download(f"file://{path}", tmp_path / "own", mirror=str(mirror))
        download(URL, tmp_path / "public", mirror=str(mirror))
    finally:
        os.umask(before)
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "public").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("text", [
    f"MD5(a.gz)= {HEX}", f"MD5 (a.gz) = {HEX.upper()}\n", f"{HEX}  a.gz", f"{HEX} *a.gz\n",
    f"MD5(pubmed/b/a.gz)= {HEX}", f"{HEX}  ./a.gz",
])  # fmt: skip
def test_the_md5_of_a_file_stands_in_either_form(text: str) -> None:
    assert published_md5(text.encode(), "a.gz", "a.gz.md5") == HEX


@pytest.mark.parametrize(("text", "fault"), [
    (f"MD5(b.gz)= {HEX}", "expected the md5 of a.gz, found that of b.gz"),
    (f"{HEX}  a.gz/b.gz", "expected the md5 of a.gz, found that of a.gz/b.gz"),
    (HEX, "expected one line `MD5.a.gz.= hex` or `hex  a.gz`, found '0123"),
    (f"{HEX[1:]}  a.gz", "expected one line"), (f"{HEX}0  a.gz", "expected one line"),
    (f"{HEX}  a.gz\n{HEX}  b.gz", "expected one line"), ("", "expected one line .* found ''"),
])  # fmt: skip
def test_the_md5_of_another_file_or_of_none_is_refused(text: str, fault: str) -> None:
    with pytest.raises(PubmillError, match=f"^a.gz.md5: {fault}"):
        published_md5(text.encode(), "a.gz", "a.gz.md5")


def test_only_the_digests_that_differ_are_shown(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    blob, wrong = "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f", "0" * 64
    check(URL, tmp_path / "f", {"git_blob": blob})
    with pytest.raises(PubmillError) as error:
        check(URL, tmp_path / "f", {"git_blob": blob, "sha256": wrong})
    lines = str(error.value).splitlines()
    assert lines[0] == f"{URL}: not the expected file (3 bytes from {tmp_path / 'f'})"
    assert lines[1].startswith(f"  sha256: expected {wrong}, found ba7816bf") and len(lines) == 3
