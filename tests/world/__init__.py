"""The miniature world: an invented language, a small PubMed and five datasets written in it.

`write_world(folder)` (or `python -m tests.world FOLDER`) writes a mirror: what stands at
`FOLDER/HOST/PATH` is what `https://HOST/PATH` would give. Nothing in it is real.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.world import citations, datasets, medline, punkt
from tests.world.citations import Citation
from tests.world.lexicon import make_lexicon

VERSION = 1
"""Counts up whenever the content changes; a folder of another version is written anew."""

_SEED = 20260101
_MARKER = "world.json"


def _content() -> tuple[dict[str, list[Citation]], dict[str, str]]:
    lexicon = make_lexicon(_SEED)
    return citations.make_citations(lexicon, _SEED + 1), datasets.dataset_files(lexicon, _SEED + 2)


def _marked(folder: Path) -> Any:
    marker = folder / _MARKER
    return json.loads(marker.read_text()) if marker.is_file() else None


def write_world(folder: Path) -> bool:
    """Write the mirror unless this version of it is there; True if it was written."""
    if _marked(folder) == {"version": VERSION}:
        return False
    (folder / _MARKER).unlink(missing_ok=True)
    pubmed, files = _content()
    medline.write_medline(folder, pubmed)
    for path, data in [
        *((path, text.encode()) for path, text in files.items()),
        (punkt.PATH, punkt.punkt_zip()),
    ]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / _MARKER).write_text(json.dumps({"version": VERSION}) + "\n")
    return True


def facts() -> dict[str, Any]:
    """What specs and tests pin: hashes and counts of the datasets, counts of the PubMed files."""
    pubmed, files = _content()
    return {
        "datasets": datasets.facts(files),
        "pubmed": citations.facts(pubmed),
        "punkt": {"sha256": sha256(punkt.punkt_zip()).hexdigest()},
    }
