"""Pins of released weights: the commit or hash that their spec names, or that their first download found."""

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.sources import read

COMMIT = "[0-9a-f]{40}"
"""A full commit hash."""
PINNED = {"hub": "revision", "archive": "sha256"}
"""Kind of released weights -> the key that pins them."""
HUB = "https://huggingface.co"
API = f"{HUB}/api/models"


def read_pin(release: Mapping[str, str], pin: Path | None) -> dict[str, str]:
    """Return the pin of released weights; raise a `PubmillError` if it is missing or pins other weights."""
    pinned = _stored_pin(pin, release) if pin else {}
    if not pinned:
        kind = release["kind"]
        raise PubmillError(f"{kind} weights without a {PINNED[kind]} need --pin, the pin of their download")
    return pinned


def _stored_pin(path: Path, release: Mapping[str, str]) -> dict[str, str]:
    """Return the pin of these weights in a file; empty if there is none, or that of other weights."""
    pinned: dict[str, str] = read_json(path) if path.is_file() else {}
    return pinned if release.items() <= pinned.items() else {}


def commit_url(model: str) -> str:
    """Return the URL at which the hub states the newest commit of a model's main branch."""
    return f"{API}/{model}/revision/main"


def newest_commit(model: str, mirror: str | None = None) -> str:
    """Return the newest commit of a hub model's main branch, from the network or a mirror."""
    url = commit_url(model)
    try:
        answer = json.loads(read(url, mirror))
    except (ValueError, RecursionError):
        raise PubmillError(f"{url}: expected JSON with the commit of {model}; try again later") from None
    commit = answer.get("sha") if isinstance(answer, dict) else None
    if not isinstance(commit, str) or not re.fullmatch(COMMIT, commit):
        raise PubmillError(f"{url}: expected a full commit hash under `sha`, found {commit!r:.80}")
    return commit


def freeze(
    release: Mapping[str, str], output: Path, mirror: str | None = None, archive: Path | None = None
) -> dict[str, str]:
    """Write and return the pin of released weights; one that `output` has for them already is kept.

    `release`: {"kind": "hub", "id"} or {"kind": "archive", "url"}; `archive`: the downloaded file, for kind
    archive. Raises a `PubmillError` if the hub states no commit, or if the archive differs from the one that
    was found first.
    """
    kept = _stored_pin(output, release)
    digest = sha256(archive) if archive else ""
    if kept and archive and kept["sha256"] != digest:
        raise PubmillError(
            f"{release['url']} has changed since {kept['found']}: expected the sha256 {kept['sha256']}, "
            f"got {digest}. Restore the file; or, to accept the new one, delete {output}"
        )
    if kept:
        os.utime(output)  # newer than the archive, so that Snakemake regards it as up to date
        return kept
    now = {"sha256": digest} if archive else {"revision": newest_commit(release["id"], mirror)}
    pin = {**release, **now, "found": datetime.now(UTC).isoformat(timespec="seconds")}
    write_json(output, sealed(pin))
    return pin
