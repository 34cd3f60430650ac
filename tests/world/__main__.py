"""Write the miniature mirror: `python -m tests.world FOLDER`.

The folder is left alone if it holds this version of the world already. `--overlay` prints instead
specs/scales/demo-datasets.yaml with the hashes of this world, after the world or a dataset's spec has
changed. The counts there stay as they are: count by hand what is new or changed, never by a converter.

    python -m tests.world --overlay > overlay.yaml && mv overlay.yaml specs/scales/demo-datasets.yaml
"""

import argparse
from pathlib import Path
from typing import Any

import yaml

from pubmill.errors import run
from pubmill.new_specs.spec_files import first_line
from tests.world import overlay, write_world

HEADING = (
    f"{first_line('scales', depth=2)}\n"
    "# The miniature world's hashes and counts, written by `python -m tests.world --overlay`.\n"
)


def written_out(content: dict[str, Any]) -> str:
    """Return the content as YAML without anchors, which the reader of specs refuses."""
    dumper = yaml.SafeDumper
    dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]
    return yaml.dump(content, Dumper=dumper, sort_keys=False, default_flow_style=None, width=110)


def main() -> None:
    """Write the world, or print the overlay."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="where the mirror goes")
    parser.add_argument("--overlay", action="store_true", help="print the demo scale's share of datasets")
    options = parser.parse_args()
    if options.overlay:
        print(HEADING + written_out(overlay()), end="")
    elif options.folder:
        written = write_world(options.folder)
        print(f"{options.folder}: {'written' if written else 'already there'}")
    else:
        parser.error("give a FOLDER, or --overlay")


if __name__ == "__main__":
    run(main)
