"""Pins of released weights: the commit or hash that their spec names, or that their first download found."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.storage.files import read_json

COMMIT = "[0-9a-f]{40}"
"""A full commit hash."""
PINNED = {"hub": "revision", "archive": "sha256"}
"""Kind of released weights -> the key that pins them."""


def read_pin(release: Mapping[str, str], pin: Path | None) -> dict[str, Any]:
    """Return the pin of released weights; a `PubmillError` without one, or for that of other weights."""
    found = read_json(pin) if pin and pin.is_file() else {}
    if not found or any(found.get(name) != value for name, value in release.items()):
        kind = release["kind"]
        raise PubmillError(f"{kind} weights without a {PINNED[kind]} need --pin, the pin of their download")
    return dict(found)
