"""Pin released weights that no spec pins: record the hub's newest commit, or an archive's hash, for good.

    .venv/bin/python scripts/pin_weights.py --release JSON --output FILE [--archive FILE] [--mirror DIR]

Inputs: the release, {"kind": "hub", "id": ...} or {"kind": "archive", "url": ...}; --archive, the downloaded
file; with --mirror, DIR/huggingface.co/api/models/ID/revision/main instead of the network.
Output: FILE (release, revision or sha256, time). A FILE of the same release is kept, and a different archive
is an error. Delete it to pin anew.
"""

import json
from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.release_pins import PINNED, freeze


def main(
    release: Annotated[str, "JSON text: kind, and id or url"],
    output: Annotated[Path, "pin to write, or to keep"],
    archive: Annotated[Path | None, "the downloaded archive, for kind archive"] = None,
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
) -> None:
    pin = freeze(json.loads(release), output, mirror, archive)
    print(f"{output}: {PINNED[pin['kind']]} {pin[PINNED[pin['kind']]]}, found {pin['found']}")


if __name__ == "__main__":
    run(program(main))
