"""Write the miniature mirror: `python -m tests.world FOLDER`; with `--facts`, print what specs pin.

The folder is left alone if it holds this version of the world already.
"""

import argparse
from pathlib import Path

import yaml

from tests.world import facts, write_world


def main() -> None:
    """Write the world and, if asked, print the facts as YAML."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the mirror goes")
    parser.add_argument("--facts", action="store_true", help="print hashes and counts as YAML")
    options = parser.parse_args()
    written = write_world(options.folder)
    if options.facts:
        print(yaml.safe_dump(facts(), sort_keys=False), end="")
    else:
        print(f"{options.folder}: {'written' if written else 'already there'}")


if __name__ == "__main__":
    main()
