"""Copy one file from the network, a mirror or this machine; complete, checked and recorded.

    .venv/bin/python scripts/download.py --url URL --output FILE [--mirror DIR] [--sha256 HEX] \\
        [--git-blob HEX]
                               [--md5-beside]

Inputs: the file at URL (https://, or file:// for a file of this machine); with --mirror, DIR/HOST/PATH
instead of the network.
Outputs: FILE, and FILE.source.json (url, bytes, sha256, md5, origin, time). An interrupted download leaves
FILE.part, which the same command resumes.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.storage.sources import download


def main(
    url: Annotated[str, "https://... or file:///..."],
    output: Annotated[Path, "file to write"],
    mirror: Annotated[str | None, "folder that holds HOST/PATH, used instead of the network"] = None,
    sha256: Annotated[str | None, "expected digest in hex"] = None,
    git_blob: Annotated[str | None, "expected id of the content as a git blob, in hex"] = None,
    md5_beside: Annotated[bool, "check against the md5 published at URL.md5"] = False,
) -> None:
    download(url, output, mirror, sha256, md5_beside, git_blob)


if __name__ == "__main__":
    run(program(main))
