"""Copy one file from the network, a mirror or this machine; complete, checked and recorded.

    .venv/bin/python scripts/download.py --url URL --output FILE [--mirror DIR] [--sha256 HEX] \\
        [--git-blob HEX]
                               [--md5-beside]

Inputs: the file at URL (https://, or file:// for a file of this machine); with --mirror, DIR/HOST/PATH
instead of the network.
Outputs: FILE, and FILE.source.json (url, bytes, sha256, md5, origin, time). An interrupted download leaves
FILE.part, which the same command resumes.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.storage.sources import download


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", required=True, help="https://... or file:///...")
    parser.add_argument("--output", required=True, type=Path, help="file to write")
    parser.add_argument("--mirror", help="folder that holds HOST/PATH, used instead of the network")
    parser.add_argument("--sha256", help="expected digest in hex")
    parser.add_argument("--git-blob", help="expected id of the content as a git blob, in hex")
    parser.add_argument(
        "--md5-beside", action="store_true", help="check against the md5 published at URL.md5"
    )
    args = parser.parse_args()
    download(args.url, args.output, args.mirror, args.sha256, args.md5_beside, args.git_blob)


if __name__ == "__main__":
    run(main)
