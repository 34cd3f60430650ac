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
    """Return the pin of released weights; a `PubmillError` without one, or for that of other weights."""
    pinned = read_json(pin) if pin and pin.is_file() else {}
    if not pinned or any(pinned.get(name) != value for name, value in release.items()):
        kind = release["kind"]
        raise PubmillError(f"{kind} weights without a {PINNED[kind]} need --pin, the pin of their download")
    return dict(pinned)


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

    Args:
        release: {"kind": "hub", "id"} or {"kind": "archive", "url"}.
        archive: The downloaded file, for kind archive.

    Raises:
        PubmillError: The hub states no commit, or the archive differs from the one that was found first.
    """
    kept: dict[str, str] = read_json(output) if output.is_file() else {}
    kept = kept if all(kept.get(key) == value for key, value in release.items()) else {}
    if archive is not None:
        digest = sha256(archive)
        if kept and kept["sha256"] != digest:
            raise PubmillError(
                f"{release['url']} has changed since {kept['found']}: expected the sha256 {kept['sha256']}, "
                f"got {digest}. Restore the file; or, to accept the new one, delete {output}"
            )
        now = {"sha256": digest}
    else:
        now = {} if kept else {"revision": newest_commit(release["id"], mirror)}
    if kept:
        os.utime(output)  # newer than the archive, so that Snakemake regards it as up to date
        return kept
    pin = {**release, **now, "found": datetime.now(UTC).isoformat(timespec="seconds")}
    write_json(output, sealed(pin))
    return pin
