"""Sound submissions in each form, and what reads them."""

import json
from functools import cache, partial
from pathlib import Path
from typing import Any

from pubmill.predictions.scores import score_submission
from tests.attack.running import template
from tests.attack.sound_files import reader
from tests.unit.predictions import toy_datasets as toy


@cache
def _results(dataset: str, access: str) -> Path:
    made = template()
    toy.make(made, dataset, access=access)
    return made


def _submission(dataset: str, path: Path, access: str = "public") -> Any:
    results = _results(dataset, access)
    return score_submission(path, toy.recipe(results, dataset), results).submission.lines


def _bioc_of_ner() -> str:
    return json.dumps(toy.bioc("ner", _results("ner", "public")), indent=1)


READERS = (
    reader("predictions.conll", toy.conll, partial(_submission, "ner")),
    reader("predictions.txt", toy.pubtator, partial(_submission, "ner")),
    reader("predictions.json", _bioc_of_ner, partial(_submission, "ner")),
    reader("predictions.xml", lambda: toy.bioc_xml(_results("ner", "public")), partial(_submission, "ner")),
    reader("predictions.tsv", toy.blurb_tsv, partial(_submission, "rel")),
    reader("spans.jsonl", toy.span_lines, partial(_submission, "ner", access="restricted")),
    *(reader(f"{name}.jsonl", partial(toy.jsonl, name), partial(_submission, name)) for name in toy.KINDS),
)
