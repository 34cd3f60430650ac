"""What the verifier prints and returns as a program."""

import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest

from pubmill.extras.proof.verifier import command
from pubmill.extras.proof.verifier.container import SUMS, pack, sums, unpack
from tests.unit.extras.proof import toy_proof as toy


def run(monkeypatch: pytest.MonkeyPatch, path: Path, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["verify.py", str(path), "--jobs", "1", *words])
    return command.main()


def test_a_proof_with_the_digest_that_was_named_is_verified(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, digest = tmp_path / "toy.proof.zip", hashlib.sha256(data).hexdigest()
    path.write_bytes(data)
    assert run(monkeypatch, path, "--sha256", digest.upper()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("study ") and lines[-1].endswith(f"; SHA-256 {digest}")
    assert lines[-1].startswith("VERIFIED in ")
    assert "visited: 1 of 1 tables, 7 of 7 test sets, 63 of 63 runs with a score" in lines[1]
    assert "; 45 runs by their items" in lines[2] and lines[3].startswith("by counts alone: 18 runs (")
    assert lines[4].startswith("as stated: 0 failed runs, 0 reasons to leave out published values")
    assert lines[4].endswith("margins of 3 to 3 points")
    assert run(monkeypatch, path, "--sha256", "0" * 64) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"REFUSED: {path}: its SHA-256 is {digest}, not {'0' * 64}\n")


def test_what_cannot_be_read_at_all_is_refused(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A published value is missing together with the rest of its line."""
    members: dict[str, Any] = unpack(data)
    members[f"published/{toy.TABLE}.csv"] = b"column,row,metric,value,note\nours,words,f1\n"
    path = tmp_path / "toy.proof.zip"
    path.write_bytes(pack({**members, SUMS: sums(members)}))
    assert run(monkeypatch, path) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(f"REFUSED: {path}: malformed content (TypeError: ")
    assert run(monkeypatch, tmp_path / "lost.zip") == 1
    assert capsys.readouterr().err.startswith(f"REFUSED: {tmp_path / 'lost.zip'}: [Errno 2] No such file")
