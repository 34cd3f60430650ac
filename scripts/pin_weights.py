"""Pin released weights that no spec pins: record the hub's newest commit, or an archive's hash, for good.

    .venv/bin/python scripts/pin_weights.py --release JSON --output FILE [--archive FILE] [--mirror DIR]

Inputs: the release, {"kind": "hub", "id": ...} or {"kind": "archive", "url": ...}; --archive, the downloaded
file; with --mirror, DIR/huggingface.co/api/models/ID/revision/main instead of the network.
Output: FILE (release, revision or sha256, time). A FILE of the same release is kept, and a different archive
is an error. Delete it to pin anew.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.storage.release_pins import PINNED, freeze


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", required=True, type=json.loads, help="JSON text: kind, and id or url")
    parser.add_argument("--output", required=True, type=Path, help="pin to write, or to keep")
    parser.add_argument("--archive", type=Path, help="the downloaded archive, for kind archive")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    arguments = parser.parse_args()
    pin = freeze(arguments.release, arguments.output, arguments.mirror, arguments.archive)
    print(f"{arguments.output}: {PINNED[pin['kind']]} {pin[PINNED[pin['kind']]]}, found {pin['found']}")


if __name__ == "__main__":
    run(main)
