"""Pin released weights that no spec pins: record the hub's newest commit, or an archive's hash, for good. An
existing pin of the same release is kept, and a different archive is an error. Delete it to pin anew."""

import json
from pathlib import Path

from pubmill.storage.release_pins import PINNED, freeze


def main(release: str, output: Path, archive: Path | None = None, mirror: str | None = None) -> None:
    pin = freeze(json.loads(release), output, mirror, archive)
    print(f"{output}: {PINNED[pin['kind']]} {pin[PINNED[pin['kind']]]}, found {pin['found']}")
