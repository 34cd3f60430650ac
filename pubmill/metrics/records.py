"""One record for each scored run: what tables, significance tests and the report read.

A record is the JSON file `.../final/seed-N.json` beside the run's predictions.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.annotation.examples import (
    KINDS,
    Example,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
    is_label_list,
    read_examples,
)
from pubmill.errors import PubmillError
from pubmill.hardware.provenance import provenance
from pubmill.metrics.contributions import Items, Scored, units_of
from pubmill.storage.files import read_json, read_jsonl_gz, sealed, sha256, write_json

Scorer = Callable[[Sequence[Any], Sequence[Any], str | None], Scored]
"""What gives metrics, counts and contributions, as `(examples, predictions, negative)`."""

FROM_TRAINING = (
    "failed", "recipe", "max_length", "dev_split", "encoded", "model_sha256", "commit", "packages", "python",
    "hardware", "seconds",
)  # fmt: skip
"""What a record takes over from the trainer's notes, `seed-N.training.json`."""

ID = re.compile(r"[\w.,:@-]{1,40}")
"""An id that is short enough, and without blanks, to be no text."""


class Form(NamedTuple):
    """The key under which a line has what is predicted, and what is wrong with that, if anything."""

    key: str
    fault: Callable[[Any, Any], str | None]


@dataclass(frozen=True, kw_only=True)
class ScoringRecipe:
    """All that decides a record besides the predictions.

    `kind` is that of the examples, `metric` the main one, `negative` the label that micro F1 leaves out
    (None: none); `versions` are those of the stages (several numbers where code and spec each have one).
    `made_by`: the digest of all recipes and stage versions behind the run; empty outside of the graph.
    """

    model: str
    dataset: str
    protocol: str
    setting: str
    scale: str
    seed: int
    split: str
    kind: Literal["tokens", "sequence", "multilabel", "regression", "span"]
    metric: str
    negative: str | None = None
    versions: dict[str, int | list[int]]
    made_by: str = ""


class Record(BaseModel):
    """A scored run.

    `metrics` are all those of the kind that are defined, within 0..1 (`pearson`: -1..1); `metric` names the
    main one. Both `metrics` and `counts` are None for a run that failed, and `failed` says how: as the
    trainer noted it, or that the main metric isn't defined for what it predicts. `dev_score` is the
    trainer's own score on dev, by which epochs and hyper-parameters are selected. `recipe` is the training
    recipe as resolved, whose `task` and `negative` are also those of the scoring, `versions` those of all
    stages. `max_length` is the longest input in subwords, the recipe's or the encoder's if that is less, and
    `dev_split` the split of dev_score (None, as in a finished pipeline: there is none); `encoded` counts what
    of the examples had to be shortened, split or left out to be read.
    `data_sha256` is that of the scored examples file, `trained_on_sha256` what the trainer noted of
    each split it read, `model_sha256` of the weights it began with.
    `commit`, `packages`, `python`, `hardware` and `seconds` are the training's; `scored_with` holds
    commit, packages and python of the scoring. `made_by` is the recipe's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    model: str
    dataset: str
    protocol: str
    setting: str
    scale: str
    seed: int
    split: str
    metric: str
    metrics: dict[str, float] | None
    counts: dict[str, int] | None
    dev_score: float | None
    failed: str | None
    recipe: dict[str, Any]
    max_length: int | None
    dev_split: str | None
    encoded: dict[str, int]
    versions: dict[str, int | list[int]]
    data_sha256: str
    trained_on_sha256: dict[str, str]
    model_sha256: str | None
    commit: str | None
    packages: dict[str, str]
    python: str
    hardware: dict[str, Any]
    seconds: float
    scored_with: dict[str, Any]
    made_by: str = ""


def write_record(path: Path, record: Record) -> None:
    """Write a record with its digest, whole or not at all."""
    write_json(path, sealed(record.model_dump()))


def read_record(path: Path) -> Record:
    """Read a record strictly: unknown, missing and mistyped fields are errors that name the file."""
    return _validated(read_json(path), path)


def score_run(
    recipe: ScoringRecipe, scorer: Scorer, predictions: Path, examples: Path, training: Path
) -> tuple[Record, Items]:
    """Score one run's predictions against the examples of its split; with what each document adds to that.

    A run that its trainer marks as failed gives a record without metrics: a failure is a result,
    and no substitute score stands for it. So does one for whose predictions the main metric isn't defined.
    """
    gold, trained = list(read_examples(examples, KINDS[recipe.kind])), read_json(training)
    if not gold:
        raise PubmillError(f"{examples} has no examples; convert the dataset again")
    data = sha256(examples)
    _check_training(recipe, trained, training, data)
    failed, result = trained["failed"], None
    if failed is None:
        result = scorer(gold, read_predictions(predictions, gold), recipe.negative)
        if recipe.metric not in result.metrics:
            failed, result = f"{recipe.metric} not defined", None
    used = provenance()
    values = {
        **{name: value for name, value in vars(recipe).items() if name in Record.model_fields},
        **{name: trained[name] for name in FROM_TRAINING},
        "metrics": result and result.metrics,
        "counts": result and result.counts,
        "failed": failed,
        "dev_score": trained["dev"]["best"],
        "data_sha256": data,
        "trained_on_sha256": trained["data_sha256"],
        "scored_with": {name: used[name] for name in ("commit", "packages", "python")},
    }
    items = Items(recipe.kind, units_of(gold).each, data, result.contributions if result else None)
    return _validated(values, training), items


def read_predictions(path: Path, gold: Sequence[Example]) -> list[Any]:
    """Read what is predicted of each example, in the order of `gold`: one line for each of them.

    The lines may be in any order; each has the example's `id` and, by the examples' kind:
    - tokens: `labels`, a BIO label for each word -> list[str]
    - sequence: `label` -> str
    - multilabel: `labels`, sorted, each once -> list[str]
    - regression: `score`, a finite number -> float
    - span: `answers`, at least one `{"text", "probability"}`, best first -> list[tuple[str, float]]

    Missing, extra and repeated ids, and all else that isn't so, are `PubmillError`s with file and line.
    """
    examples = {example.id: example for example in gold}
    predicted: dict[str, Any] = {}
    form = FORMS[type(gold[0])]
    for number, row in enumerate(read_jsonl_gz(path), 1):
        fault = _row_fault(row, form, examples, predicted)
        if fault:
            raise PubmillError(f"{path}:{number}: {fault}; run the fine-tuning again")
        predicted[row["id"]] = _ranked(row[form.key]) if form.key == "answers" else row[form.key]
    missing = [name for name in examples if name not in predicted]
    if missing:
        raise PubmillError(
            f"{path}: {len(missing)} of {len(gold)} examples have no prediction, the first of them "
            f"{', '.join(missing[:5])}; run the fine-tuning again"
        )
    return [predicted[example.id] for example in gold]


def _row_fault(row: Any, form: Form, examples: Mapping[str, Example], seen: Mapping[str, Any]) -> str | None:
    """What is wrong with a line; its text, which may be of licensed data, is never quoted."""
    if not isinstance(row, dict) or row.keys() != {"id", form.key}:
        return f"expected an object with exactly the keys id and {form.key}"
    name = row["id"]
    if not isinstance(name, str) or name not in examples:
        shown = f"the id {name!r}" if isinstance(name, str) and ID.fullmatch(name) else "its id"
        return f"{shown} isn't one of the examples'"
    if name in seen:
        return f"{name} is predicted for the second time"
    fault = form.fault(examples[name], row[form.key])
    return f"{name}: {fault}" if fault else None


def _labels_fault(example: Any, labels: Any) -> str | None:
    if not is_label_list(labels):
        return "expected a list of BIO labels"
    words = len(example.words)
    if len(labels) != words:
        return f"expected {words} labels, one for each word, found {len(labels)}"
    return None


def _label_fault(example: Any, label: Any) -> str | None:
    return None if isinstance(label, str) and label else "expected a label"


def _label_set_fault(example: Any, labels: Any) -> str | None:
    is_list = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    return (
        None if is_list and labels == sorted(set(labels)) else "expected a list of sorted, different labels"
    )


def _score_fault(example: Any, score: Any) -> str | None:
    return None if _is_number(score) else "expected a finite number"


def _answers_fault(example: Any, answers: Any) -> str | None:
    if not isinstance(answers, list) or not answers or not all(map(_is_answer, answers)):
        return "expected a list of answers, each with exactly a text and a probability between 0 and 1"
    probabilities = [answer["probability"] for answer in answers]
    if probabilities != sorted(probabilities, reverse=True):
        return "expected the most probable answer first"
    return None


def _is_answer(answer: Any) -> bool:
    if not isinstance(answer, dict) or answer.keys() != {"text", "probability"}:
        return False
    probability = answer["probability"]
    # A little more than 1 comes of a sum in single precision.
    return isinstance(answer["text"], str) and _is_number(probability) and 0 <= probability <= 1 + 1e-5


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _ranked(answers: Sequence[Mapping[str, Any]]) -> list[tuple[str, float]]:
    return [(answer["text"], answer["probability"]) for answer in answers]


FORMS: dict[type[Example], Form] = {
    TokensExample: Form("labels", _labels_fault),
    SequenceExample: Form("label", _label_fault),
    MultilabelExample: Form("labels", _label_set_fault),
    RegressionExample: Form("score", _score_fault),
    SpanExample: Form("answers", _answers_fault),
}
"""Kind of examples -> the form of its predictions."""


def _check_training(recipe: ScoringRecipe, trained: Any, path: Path, data: str) -> None:
    """That the training was of this very run, and on these very examples."""
    needed = {*FROM_TRAINING, "seed", "model", "dev", "data_sha256"}
    objects = ("recipe", "dev", "data_sha256")
    if (
        not isinstance(trained, dict)
        or not needed <= trained.keys()
        or not all(isinstance(trained[name], dict) for name in objects)
    ):
        present = sorted(trained) if isinstance(trained, dict) else type(trained).__name__
        raise PubmillError(
            f"{path}: expected at least the keys {sorted(needed)} ({', '.join(objects)} being objects), "
            f"found {present}. Run the fine-tuning again."
        )
    examples = f"sha256 of {recipe.split} examples"
    expected = {
        "seed": recipe.seed,
        "model": recipe.model,
        "task": recipe.kind,
        "negative": recipe.negative,
        examples: data,
    }
    learnt = {name: trained["recipe"].get(name) for name in ("task", "negative")}
    found = {**trained, **learnt, examples: trained["data_sha256"].get(recipe.split)}
    wrong = [f"{key} {found[key]!r}, not {value!r}" for key, value in expected.items() if found[key] != value]
    if wrong:
        raise PubmillError(
            f"{path} is of another run than the one to score: it has {'; '.join(wrong)}. "
            "Run the fine-tuning again on the present examples, or give the files that belong together."
        )


def _validated(values: Any, path: Path) -> Record:
    try:
        return Record.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise PubmillError(f"{path}: not a complete record: {faults}. Score the run again.") from None
