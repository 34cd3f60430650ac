"""Copy one file from the network, a mirror or this machine (file://); complete, checked and recorded in
FILE.source.json. An interrupted download leaves FILE.part, which the same command resumes."""

from pathlib import Path

from pubmill.storage.sources import download


def main(
    url: str,
    output: Path,
    mirror: str | None = None,
    sha256: str | None = None,
    git_blob: str | None = None,
    md5_beside: bool = False,
) -> None:
    download(url, output, mirror, sha256, md5_beside, git_blob)
