"""Pins of released weights: found once and kept, from a mirror or a server, and nothing else accepted."""

import json
import os
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.storage import release_pins
from pubmill.storage.files import read_json, sha256
from pubmill.storage.release_pins import commit_url, freeze, newest_commit, read_pin
from tests.servers import serving

FIRST, SECOND = "1" * 40, "2" * 40
RELEASE = {"kind": "hub", "id": "lab/bert"}
ARCHIVE = {"kind": "archive", "url": "https://example.org/bert.tar.gz"}


def put(mirror: Path, text: str, model: str = "lab/bert") -> str:
    """Write what the hub answers into a mirror."""
    path = mirror / commit_url(model).removeprefix("https://")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(mirror)


def test_the_first_commit_is_kept_and_a_pin_is_that_of_its_weights(tmp_path: Path) -> None:
    pin = tmp_path / "pin.json"
    found = freeze(RELEASE, pin, put(tmp_path, json.dumps({"sha": FIRST, "id": "lab/bert"})))
    assert found == read_json(pin) and found["revision"] == FIRST and found["found"]
    assert freeze(RELEASE, pin, put(tmp_path, json.dumps({"sha": SECOND}))) == found
    other = freeze(
        {"kind": "hub", "id": "lab/other"}, pin, put(tmp_path, json.dumps({"sha": SECOND}), "lab/other")
    )
    assert other["revision"] == SECOND, "a pin of other weights is replaced"
    pin = tmp_path / "pin.json"
    freeze(RELEASE, pin, put(tmp_path, json.dumps({"sha": FIRST})))
    assert read_pin(RELEASE, pin)["revision"] == FIRST
    for release, path in ((RELEASE, None), (RELEASE, tmp_path / "none.json"), (ARCHIVE, pin)):
        with pytest.raises(PubmillError, match="need --pin"):
            read_pin(release, path)


def test_the_commit_comes_from_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"sha": FIRST}).encode()
    with serving(lambda talk: talk.body(body, '"1"')) as asked:
        monkeypatch.setattr(release_pins, "API", f"{asked.url.rstrip('/')}/api/models")
        assert newest_commit("lab/bert") == FIRST
    assert asked.requests[0][0] == "/api/models/lab/bert/revision/main"


@pytest.mark.parametrize("answer", ["", "<html>", "[]", "{}", '{"sha": "main"}', '{"sha": 7}', "[" * 100_000])
def test_an_answer_without_a_commit_is_refused(tmp_path: Path, answer: str) -> None:
    with pytest.raises(PubmillError, match=r"api/models/lab/bert/revision/main: expected"):
        freeze(RELEASE, tmp_path / "pin.json", put(tmp_path, answer))
    assert not (tmp_path / "pin.json").exists()


def test_a_changed_archive_is_refused(tmp_path: Path) -> None:
    archive, pin = tmp_path / "bert.tar.gz", tmp_path / "pin.json"
    archive.write_bytes(b"first")
    first = freeze(ARCHIVE, pin, archive=archive)
    assert first["sha256"] == sha256(archive)
    os.utime(pin, (1, 1))
    assert freeze(ARCHIVE, pin, archive=archive) == first
    assert pin.stat().st_mtime > 1, "Snakemake must not regard it as older than the archive"
    archive.write_bytes(b"second")
    with pytest.raises(PubmillError, match=r"bert\.tar\.gz has changed since .* delete .*pin\.json"):
        freeze(ARCHIVE, pin, archive=archive)
    assert read_json(pin) == first
    pin.unlink()
    assert freeze(ARCHIVE, pin, archive=archive)["sha256"] == sha256(archive)
