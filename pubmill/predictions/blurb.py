"""BLURB's submission form: a zip archive with a JSON file for each dataset. The keys and values follow
BLURB's JSON Schemas, as copied in github.com/iqvianlp/IQVIA-NLP-LLM-Benchmarking-Pipeline (commit 2e313ef,
tools/bionlp_benchmarking/blurb)."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypedDict

from pubmill.errors import PubmillError
from pubmill.examples.tagging import UNPLACED
from pubmill.messages.quotations import show
from pubmill.metrics.records import PREDICTION_FORMS
from pubmill.predictions.json_forms import is_text_list
from pubmill.predictions.rows import PredictionRow
from pubmill.storage.files import writing

NAMES = {
    "bc5-chem": "BC5-chem", "bc5-disease": "BC5-disease", "ncbi-disease": "NCBI-disease", "bc2gm": "BC2GM",
    "jnlpba": "JNLPBA", "ebm-pico": "EBM PICO", "chemprot@blurb": "ChemProt", "gad@blurb": "GAD",
    "biosses": "BIOSSES", "hoc@blurb": "HoC", "pubmedqa": "PubmedQA", "bioasq-yesno": "BioASQ",
}  # fmt: skip
"""Dataset -> its name in BLURB's schemas. DDI is missing: its keys name entities by numbers that neither the
corpus nor BLURB's published table has."""
HALLMARKS = {
    "A": "inducing angiogenesis", "CD": "resisting cell death", "CE": "cellular energetics",
    "GI": "genomic instability and mutation", "GS": "evading growth suppressors",
    "ID": "avoiding immune destruction", "IM": "activating invasion and metastasis",
    "PS": "sustaining proliferative signaling", "RI": "enabling replicative immortality",
    "TPI": "tumor promoting inflammation",
}  # fmt: skip
"""Abbreviation of a label of HoC -> the label."""
SCORES = (0, 4)
"""Range of the scores of BIOSSES."""
_NUMBERED = ("bc5-chem", "bc5-disease", "ncbi-disease", "bc2gm", "jnlpba", "gad@blurb")
"""Datasets whose keys are the numbers of examples, from 0."""
_SENTENCE = re.compile(r"(.+)_s?([0-9]{1,9})")
_TIME = (1980, 1, 1, 0, 0, 0)


class BlurbDocument(TypedDict):
    """JSON file of a dataset. `predictions`: key of a document or an example -> its labels or score."""

    dataset_name: str
    model_name: str
    predictions: dict[str, Any]


def is_submission(content: Any) -> bool:
    """Return whether a JSON document has the keys of BLURB's form."""
    return isinstance(content, dict) and content.keys() == {"dataset_name", "model_name", "predictions"}


def read(
    content: Mapping[str, Any], dataset: str, examples: Sequence[Any], where: str
) -> Iterator[PredictionRow]:
    """Yield the rows of BLURB's form, with the ids of the dataset's examples."""
    if dataset not in NAMES:
        raise PubmillError(
            f"{where}: BLURB's submission form is not read for {dataset}; give a JSON object with a "
            "prediction by id. Nothing was scored"
        )
    if content["dataset_name"] != NAMES[dataset]:
        raise PubmillError(
            f"{where}: predictions for {show(str(content['dataset_name']))} of BLURB, not for {dataset} "
            f"({NAMES[dataset]}). Nothing was scored"
        )
    values = content["predictions"]
    if not isinstance(values, dict):
        raise PubmillError(f"{where}: `predictions` must be an object with a prediction by key")
    if dataset == "ebm-pico":
        values = _by_sentence(values, examples, where)
    elif dataset == "hoc@blurb":
        values = _by_document(values, examples, where)
    ids = {str(number): one.id for number, one in enumerate(examples)} if dataset in _NUMBERED else {}
    for name, value in values.items():
        place, known = f"{where}: {show(name)}", ids.get(name, name)
        yield PredictionRow(where=place, id=known, key="prediction", value=value)


def _by_sentence(values: Mapping[str, Any], examples: Sequence[Any], where: str) -> dict[str, Any]:
    """Return the labels of each sentence, from those of whole documents; unknown keys are kept."""
    by_id = dict(values)
    for document, group in groupby(examples, lambda one: one.document):
        sentences, labels = list(group), by_id.pop(document, None)
        words = sum(len(one.words) for one in sentences)
        if labels is None:
            continue  # reported as missing ids
        if not is_text_list(labels) or len(labels) != words:
            raise PubmillError(
                f"{where}: {show(document)}: expected a label for each of the {words} words of the document, "
                f"found {len(labels) if isinstance(labels, list) else 'none'}. Nothing was scored"
            )
        rest = iter(labels)
        by_id |= {one.id: [next(rest) for _ in one.words] for one in sentences}
    return by_id


def _by_document(values: Mapping[str, Any], examples: Sequence[Any], where: str) -> dict[str, list[str]]:
    """Return the labels of each document, from those of its sentences, of which none may be missing."""
    count = {one.id: len(one.sentences) for one in examples}
    by_document: dict[str, set[str]] = {}
    numbers: dict[str, set[int]] = {}
    for name, labels in values.items():
        place = _SENTENCE.fullmatch(name)
        if place is None or not is_text_list(labels):
            raise PubmillError(f"{where}: {show(name)}: expected a list of labels by PMID_SENTENCE")
        numbers.setdefault(place[1], set()).add(int(place[2]))
        by_document.setdefault(place[1], set()).update(HALLMARKS.get(label, label) for label in labels)
    for document, given in numbers.items():
        if document in count and given != set(range(count[document])):
            raise PubmillError(
                f"{where}: expected labels for the sentences 0 to {count[document] - 1} of {show(document)}, "
                f"found {len(given)} sentences. Nothing was scored"
            )
    return {document: sorted(labels) for document, labels in by_document.items()}


def prediction_of(line: Mapping[str, Any]) -> Any:
    """Return the prediction in a line of pubmill's own form; answers as texts, best first."""
    [key] = line.keys() & {form.key for form in PREDICTION_FORMS.values()}
    return [answer["text"] for answer in line[key]] if key == "answers" else line[key]


def document(
    dataset: str, model: str, examples: Sequence[Any], lines: Sequence[Mapping[str, Any]]
) -> BlurbDocument:
    pairs = [(one, prediction_of(line)) for one, line in zip(examples, lines, strict=True)]
    values: dict[str, Any] = {}
    for number, (one, predicted) in enumerate(pairs):
        if dataset == "ebm-pico":
            inside = ["O" if label == "O" else f"I-{label.partition('-')[2]}" for label in predicted]
            values.setdefault(one.document, []).extend(inside)
        elif dataset == "hoc@blurb":
            # by sentence: all labels at the first one, because only documents are scored
            short = sorted(name for name, label in HALLMARKS.items() if label in predicted)
            values |= {f"{one.id}_{place}": [] if place else short for place in range(len(one.sentences))}
        elif dataset == "gad@blurb":
            values[str(number)] = predicted
        elif dataset in _NUMBERED:
            values[str(number)] = [label[0] for label in predicted]
        else:
            values[one.id] = predicted
    return {"dataset_name": NAMES[dataset], "model_name": model, "predictions": values}


def fault(lines: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why BLURB's form has no place for predictions: mentions that fit no words, or scores outside of
    its range."""
    if unplaced := sum(len(line.get(UNPLACED, ())) for line in lines):
        return f"{unplaced} mentions fit no words"
    low, high = SCORES
    outside = [line["id"] for line in lines if "score" in line and not low <= line["score"] <= high]
    if not outside:
        return None
    return f"{len(outside)} scores are outside of {low} to {high}, first that of {show(outside[0])}"


def write_archive(path: Path, documents: Mapping[str, Mapping[str, object]]) -> None:
    """Write a zip archive with `DATASET.json` for each dataset; equal predictions give equal bytes."""
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for dataset, content in sorted(documents.items()):
            entry = zipfile.ZipInfo(f"{dataset}.json", _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
