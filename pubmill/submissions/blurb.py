"""Predictions as a submission to BLURB: a zip archive with a JSON file for each dataset.

BLURB's page (microsoft.github.io/BLURB/submit.html) asks for these; a file has the prediction of each id.
"""

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.storage.files import writing

_TIME = (1980, 1, 1, 0, 0, 0)
_KEYS = ("labels", "label", "score", "answers")


def prediction_of(line: Mapping[str, Any]) -> Any:
    """Return the prediction in a line of pubmill's own form; answers as texts, best first."""
    [key] = line.keys() & set(_KEYS)
    return [answer["text"] for answer in line[key]] if key == "answers" else line[key]


def document(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the JSON document of a dataset: a prediction by id."""
    return {"predictions": {line["id"]: prediction_of(line) for line in lines}}


def write_archive(path: Path, lines_of: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write a zip archive with `DATASET.json` for each dataset; equal predictions give equal bytes."""
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for dataset, lines in sorted(lines_of.items()):
            entry = zipfile.ZipInfo(f"{dataset}.json", _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, json.dumps(document(lines), ensure_ascii=False, indent=1) + "\n")
