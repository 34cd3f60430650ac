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


def pinned(weights: Mapping[str, Any], pin: Path | None) -> dict[str, Any]:
    """Return released weights with the commit or hash of their spec, or else of their pin."""
    key = PINNED[weights["kind"]]
    if weights.get(key) is not None:
        return dict(weights)
    found = read_json(pin) if pin and pin.is_file() else {}
    named = {name: value for name, value in weights.items() if name != key}
    if not found or any(found.get(name) != value for name, value in named.items()):
        raise PubmillError(f"{weights['kind']} weights without a {key} need --pin, the pin of their download")
    return {**found}
