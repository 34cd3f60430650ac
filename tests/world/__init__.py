"""The miniature world: an invented language, a small PubMed and datasets written in it.

`write_world(folder)` (or `python -m tests.world FOLDER`) writes a mirror: what stands at
`FOLDER/HOST/PATH` is what `https://HOST/PATH` would give, and `FOLDER/local/KEY` are the licensed files
that users bring themselves. Nothing in it is real.
"""

import json
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import yaml

from tests.world import citations, datasets, medline, punkt
from tests.world.citations import Citation
from tests.world.lexicon import Lexicon, make_lexicon
from tests.world.part import Part

VERSION = 2
"""Counts up whenever the content changes; a folder of another version is written anew."""

SPECS = Path(__file__).resolve().parents[2] / "specs/datasets"
PARTS = (datasets.part,)
"""What makes the files of the datasets, one function for each family of formats."""

_SEED = 20260101
_MARKER = "world.json"


def _pubmed(lexicon: Lexicon) -> dict[str, list[Citation]]:
    return citations.make_citations(lexicon, _SEED + 1)


def dataset_parts() -> Part:
    """The files of all datasets, and what must be counted in each."""
    lexicon = make_lexicon(_SEED)
    whole = Part({}, {})
    for number, make in enumerate(PARTS):
        whole = whole.joined(make(lexicon, _SEED + 2 + 1000 * number))
    return whole


def _marked(folder: Path) -> Any:
    marker = folder / _MARKER
    return json.loads(marker.read_text()) if marker.is_file() else None


def write_world(folder: Path) -> bool:
    """Write the mirror unless this version of it is there; True if it was written."""
    if _marked(folder) == {"version": VERSION}:
        return False
    (folder / _MARKER).unlink(missing_ok=True)
    medline.write_medline(folder, _pubmed(make_lexicon(_SEED)))
    for path, data in {**dataset_parts().files, punkt.PATH: punkt.punkt_zip()}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / _MARKER).write_text(json.dumps({"version": VERSION}) + "\n")
    return True


def facts() -> dict[str, Any]:
    """What specs and tests pin: hashes and counts of the datasets, counts of the PubMed files."""
    whole = dataset_parts()
    return {
        "datasets": {
            name: {**_pins(name, whole.files), "expect": expect} for name, expect in whole.expect.items()
        },
        "pubmed": citations.facts(_pubmed(make_lexicon(_SEED))),
        "punkt": {"sha256": sha256(punkt.punkt_zip()).hexdigest()},
    }


def _pins(name: str, files: dict[str, bytes]) -> dict[str, Any]:
    """The digests that the dataset's spec pins, of this world's files."""
    pins = {}
    for role, source in _sources(name).items():
        content = files.get(source.get("url", "").removeprefix("https://"))
        if content is not None and "sha256" in source:
            pins[role] = {"sha256": sha256(content).hexdigest()}
        elif content is not None and "git_blob" in source:
            pins[role] = {"git_blob": sha1(b"blob %d\0" % len(content) + content).hexdigest()}
    return {"sources": pins} if pins else {}


def _sources(name: str) -> dict[str, dict[str, str]]:
    spec = yaml.safe_load((SPECS / f"{name}.yaml").read_text())
    base = _sources(spec["include"]) if "include" in spec else {}
    return {**base, **spec.get("sources", {})}
