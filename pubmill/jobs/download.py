"""Copy one file from the network, a mirror or this machine (file://); complete, checked and recorded in
FILE.source.json. An interrupted download leaves FILE.part, which the same command resumes."""

from pubmill.storage.sources import download as main

__all__ = ["main"]
