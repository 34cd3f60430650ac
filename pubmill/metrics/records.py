"""Records of scored runs, which tables, significance tests and the report read.

A record is the JSON file `.../final/seed-N.json` beside the run's predictions.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.errors import PubmillError
from pubmill.examples import kinds
from pubmill.examples.tagging import CONTINUATION, SUBWORDS, UNPLACED, ExtendedLabels, PredictedLabels
from pubmill.hardware.provenance import provenance
from pubmill.metrics.collapse import failure_of, is_collapsed
from pubmill.metrics.contributions import Items, Scored, units_of
from pubmill.metrics.registry import evaluated
from pubmill.recipes.scoring import ScoringRecipe
from pubmill.storage.checksums import check_predictions
from pubmill.storage.files import read_json, read_jsonl_gz, sealed, sha256, write_json

Scorer = Callable[[Sequence[Any], Sequence[Any], str | None], Scored]
"""Function `(examples, predictions, negative)` that returns metrics, counts and contributions."""

FROM_TRAINING = (
    "failed", "recipe", "max_length", "dev_split", "encoded", "model_sha256", "commit", "packages", "python",
    "hardware", "seconds",
)  # fmt: skip
"""Fields that a record copies from the trainer's notes, `seed-N.training.json`."""

ASKED_TOKENS = ("prompt_tokens", "answer_tokens")
"""Keys of `encoded` if a language model was prompted: tokens read and written for all examples."""

ID = re.compile(r"[\w.,:@-]{1,40}")
"""An id that cannot be text of a dataset: short and without white space."""


class PredictionForm(NamedTuple):
    """Form of prediction lines. `key`: the key of the prediction; `fault`: a function of example and
    prediction that returns an error message or None; `beside`: optional keys, each with such a function."""

    key: str
    fault: Callable[[Any, Any], str | None]
    beside: Mapping[str, Callable[[Any, Any], str | None]] = MappingProxyType({})


class Record(BaseModel):
    """A scored run.

    - `metrics`: all defined metrics of the kind, within 0..1 (`pearson`: -1..1); `metric`: the main one. For
      a failed run, `metrics` and `counts` are None, and `failed` gives the reason: the trainer's, or that the
      main metric is not defined for the gold answers. `collapsed`: all predictions are the same.
    - `dev_score`: the trainer's score on dev, by which epochs and hyper-parameters are selected; `dev_split`:
      its split (None if there is none, as of supplied predictions).
    - `recipe`: the resolved training recipe, whose `task` and `negative` are also used for scoring;
      `versions`: those of all stages.
    - `max_length`: longest input in subwords, the smaller of the recipe's and the encoder's limit; `encoded`:
      counts of examples that had to be shortened, split or left out.
    - `data_sha256`: digest of the scored examples file; `trained_on_sha256`: digests of the splits that the
      trainer read; `model_sha256`: digest of the initial weights.
    - `commit`, `packages`, `python`, `hardware` and `seconds` describe the training; `scored_with`: commit,
      packages and Python of the scoring. `made_by`: as in `ScoringRecipe`.
    - `by_type`: seqeval's report of a scored run on labelled words (`with_entity_report`).
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
    collapsed: bool = False
    by_type: dict[str, dict[str, float]] | None = None


def write_record(path: Path, record: Record) -> None:
    """Write a record with its digest, atomically."""
    write_json(path, sealed(record.model_dump()))


def read_record(path: Path) -> Record:
    """Read a record strictly: unknown, missing and mistyped fields are errors that name the file."""
    return _validate_record(read_json(path), path)


def score_run(
    recipe: ScoringRecipe,
    scorer: Scorer,
    predictions: Path,
    examples: Path,
    training: Path,
    scored_with: Mapping[str, Any] | None = None,
) -> tuple[Record, Items]:
    """Score one run's predictions on the examples of its split; return its record and contributions.
    `scored_with`: that of an earlier scoring, which is made again.

    A run without predictions, which its trainer marked as failed, gets a record without metrics: a failure is
    a result and never gets a substitute score. The same holds if the main metric is not defined for the gold
    answers. A run with constant predictions has the score of these predictions, as in the papers, and a mark.
    """
    gold, trained = list(kinds.kept_examples(examples, kinds.KINDS[recipe.kind])), read_json(training)
    if not gold:
        raise PubmillError(f"{examples} has no examples; convert the dataset again")
    data = sha256(examples)
    _check_training(recipe, trained, training, data)
    check_predictions(predictions, trained)
    failed, result, collapsed, by_type = failure_of(trained), None, False, None
    if failed is None:
        predicted = read_predictions(predictions, gold)
        result, collapsed = scorer(gold, predicted, recipe.negative), is_collapsed(gold, predicted)
        if recipe.metric not in result.metrics:
            failed, result, collapsed = f"{recipe.metric} not defined", None, False
        elif recipe.kind == "tokens":
            # Imported here: seqeval takes two seconds, and those who only read records do not need it.
            from pubmill.metrics.entity_report import with_entity_report

            words = cast(list[kinds.TokensExample], gold)
            result, by_type = with_entity_report(recipe.dataset, words, predicted, result)
    used = provenance() if scored_with is None else scored_with
    values = {
        **{name: value for name, value in vars(recipe).items() if name in Record.model_fields},
        **{name: trained[name] for name in FROM_TRAINING},
        "metrics": result and result.metrics,
        "counts": result and result.counts,
        "failed": failed,
        "collapsed": collapsed,
        "by_type": by_type,
        "dev_score": trained["dev"]["best"],
        "data_sha256": data,
        "trained_on_sha256": trained["data_sha256"],
        "scored_with": {name: used[name] for name in ("commit", "packages", "python")},
    }
    items = Items(recipe.kind, units_of(gold).each, data, result.contributions if result else None)
    return _validate_record(values, training), items


def read_predictions(path: Path, gold: Sequence[kinds.Example]) -> list[Any]:
    """Read one prediction per example, and return them in the order of `gold`.

    The lines may be in any order; each has the example's `id` and, by the examples' kind:
    - tokens: `labels`, a BIO label for each word -> list[str]; with `subword_labels`, a list of the labels of
      each word's subwords -> PredictedLabels; with `unplaced`, mentions without a place -> ExtendedLabels
    - sequence: `label` -> str; `NO_PREDICTION` for an example without one
    - multilabel: `labels`, sorted, each once -> list[str]
    - regression: `score`, a finite number -> float
    - span: `answers`, at least one `{"text", "probability"}`, best first -> list[tuple[str, float]]
    - relations: `relations`, sorted lists of two concepts, a label and, if known, `Novel` or `No`
    - mentions: `mentions`, sorted lists of the first word, the word after the last, and the type; those that
      are `unplaced` stand behind the words

    Missing, extra and repeated ids and malformed lines raise a `PubmillError` with file and line.
    """
    return checked_predictions(read_jsonl_gz(path), gold, str(path), "run the fine-tuning again")


def checked_predictions(
    lines: Iterable[dict[str, Any]], gold: Sequence[kinds.Example], where: str, advice: str
) -> list[Any]:
    """Return the predictions of lines as `read_predictions` does; messages begin with `where`."""
    examples = {example.id: example for example in gold}
    predicted: dict[str, Any] = {}
    form = PREDICTION_FORMS[type(gold[0])]
    for number, row in enumerate(lines, 1):
        fault = _row_fault(row, form, examples, predicted)
        if fault:
            raise PubmillError(f"{where}:{number}: {fault}; {advice}")
        predicted[row["id"]] = _prediction(row, form.key, examples[row["id"]])
    missing = [name for name in examples if name not in predicted]
    if missing:
        raise PubmillError(
            f"{where}: {len(missing)} of {len(gold)} examples have no prediction, the first of them "
            f"{', '.join(missing[:5])}; {advice}"
        )
    return [predicted[example.id] for example in gold]


def _row_fault(
    row: Any, form: PredictionForm, examples: Mapping[str, kinds.Example], seen: Mapping[str, Any]
) -> str | None:
    """Return the fault of a line, if any; its text, which may be licensed, is never quoted."""
    if not isinstance(row, dict) or row.keys() - form.beside.keys() != {"id", form.key}:
        return f"expected an object with exactly the keys id and {form.key}"
    name = row["id"]
    if not isinstance(name, str) or name not in examples:
        shown = f"the id {name!r}" if isinstance(name, str) and ID.fullmatch(name) else "its id"
        return f"{shown} isn't one of the examples'"
    if name in seen:
        return f"{name} already has a prediction"
    checks = {form.key: form.fault, **form.beside}
    faults = (fault(examples[name], row[key]) for key, fault in checks.items() if key in row)
    fault = next(filter(None, faults), None)
    return f"{name}: {fault}" if fault else None


def _labels_fault(example: Any, labels: Any) -> str | None:
    if not kinds.is_label_list(labels):
        return "expected a list of BIO labels"
    words, found = len(example.words), len(labels)
    return None if found == words else f"expected {words} labels, one for each word, found {found}"


def _subwords_fault(example: Any, words: Any) -> str | None:
    are_lists = isinstance(words, list) and all(isinstance(labels, list) for labels in words)
    marked = [one for labels in words for one in labels if one != CONTINUATION] if are_lists else None
    if not kinds.is_label_list(marked):
        return f"expected {SUBWORDS}, a list of BIO labels or {CONTINUATION} for each word"
    count, found = len(example.words), len(words)
    return None if found == count else f"expected {SUBWORDS} of {count} words, found {found}"


def _label_set_fault(example: Any, labels: Any) -> str | None:
    is_list = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    is_sorted = is_list and labels == sorted(set(labels))
    return None if is_sorted else "expected a list of sorted, different labels"


def _answers_fault(example: Any, answers: Any) -> str | None:
    if not isinstance(answers, list) or not answers or not all(map(_is_answer, answers)):
        return "expected a list of answers, each with exactly a text and a probability between 0 and 1"
    probabilities = [answer["probability"] for answer in answers]
    is_sorted = probabilities == sorted(probabilities, reverse=True)
    return None if is_sorted else "expected the most probable answer first"


def _mentions_fault(example: Any, mentions: Any) -> str | None:
    words = len(example.words)
    if not isinstance(mentions, list) or not all(_is_span(one, words) for one in mentions):
        return f"expected a list of mentions: first word, word after the last (up to {words}), type"
    is_sorted = mentions == sorted(map(list, set(map(tuple, mentions))))
    return None if is_sorted else "mentions must be sorted and unique"


def _unplaced_fault(example: Any, unplaced: Any) -> str | None:
    if isinstance(unplaced, list) and all(_is_unplaced(one, example) for one in unplaced):
        return None
    return f"expected {UNPLACED}, a list of types and numbers of words, at most those of the sentence"


def _is_unplaced(value: Any, example: Any) -> bool:
    if not isinstance(value, list) or [type(part) for part in value] != [str, int]:
        return False
    is_type = isinstance(example, kinds.MentionsExample) or not re.search(r"\s", value[0])
    return is_type and bool(1 <= value[1] <= len(example.words))


def _is_span(value: Any, words: int) -> bool:
    if not isinstance(value, list) or [type(part) for part in value] != [int, int, str]:
        return False
    return bool(0 <= value[0] < value[1] <= words)


def _is_answer(answer: Any) -> bool:
    if not isinstance(answer, dict) or answer.keys() != {"text", "probability"}:
        return False
    probability = answer["probability"]
    # Sums in single precision can be slightly larger than 1.
    return isinstance(answer["text"], str) and is_finite_number(probability) and 0 <= probability <= 1 + 1e-5


def is_finite_number(value: Any) -> TypeGuard[int | float]:
    """Return whether a JSON value is a number that a float can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond the floats
        return False


def _prediction(row: Mapping[str, Any], key: str, example: Any) -> Any:
    if key == "answers":
        return [(answer["text"], answer["probability"]) for answer in row[key]]
    if unplaced := row.get(UNPLACED):
        if key == "labels":
            return ExtendedLabels(row[key], unplaced)
        behind, mentions = len(example.words), list(row[key])
        for kind, words in unplaced:
            mentions.append([behind, behind + words, kind])
            behind += words
        return mentions
    return PredictedLabels(row[key], row[SUBWORDS]) if SUBWORDS in row else row[key]


PREDICTION_FORMS: dict[type[kinds.Example], PredictionForm] = {
    kinds.TokensExample: PredictionForm(
        "labels", _labels_fault, {SUBWORDS: _subwords_fault, UNPLACED: _unplaced_fault}
    ),
    kinds.SequenceExample: PredictionForm(
        "label", lambda _, label: None if isinstance(label, str) and label else "expected a label"
    ),
    kinds.MultilabelExample: PredictionForm("labels", _label_set_fault),
    kinds.RegressionExample: PredictionForm(
        "score", lambda _, score: None if is_finite_number(score) else "expected a finite number"
    ),
    kinds.SpanExample: PredictionForm("answers", _answers_fault),
    kinds.RelationsExample: PredictionForm(
        "relations",
        lambda _, given: None if kinds.are_relations(given) else f"expected a list: {kinds.RELATIONS_FAULT}",
    ),
    kinds.MentionsExample: PredictionForm("mentions", _mentions_fault, {UNPLACED: _unplaced_fault}),
}
"""Kind of examples -> form of its predictions."""


def _check_training(recipe: ScoringRecipe, trained: Any, path: Path, data: str) -> None:
    needed = {*FROM_TRAINING, "seed", "model", "dev", "data_sha256"}
    objects = ("recipe", "dev", "data_sha256")
    is_whole = isinstance(trained, dict) and needed <= trained.keys()
    if not is_whole or not all(isinstance(trained[name], dict) for name in objects):
        present = sorted(trained) if isinstance(trained, dict) else type(trained).__name__
        raise PubmillError(
            f"{path}: expected at least the keys {sorted(needed)} ({', '.join(objects)} being objects), "
            f"found {present}. Run the fine-tuning again."
        )
    examples = f"sha256 of {recipe.split} examples"
    own = {"seed": recipe.seed, "model": recipe.model, "task": recipe.kind, "negative": recipe.negative}
    expected = {**own, examples: data}
    learnt = {name: trained["recipe"].get(name) for name in ("task", "negative")}
    found = {**trained, **learnt, examples: trained["data_sha256"].get(recipe.split)}
    wrong = [f"{key} {found[key]!r}, not {value!r}" for key, value in expected.items() if found[key] != value]
    if wrong:
        raise PubmillError(
            f"{path} belongs to another run than the one to score: it has {'; '.join(wrong)}. "
            "Run the fine-tuning again on the present examples, or give files that belong together."
        )


def _validate_record(values: Any, path: Path) -> Record:
    try:
        return Record.model_validate(values)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise PubmillError(f"{path}: not a complete record: {faults}. Score the run again.") from None


def recounted(recipe: ScoringRecipe, record: Record, items: Items) -> Record:
    """Return a record with what its scoring recipe and its contributions decide, where there are no
    predictions to score; its other fields are as they are."""
    own = {name: value for name, value in vars(recipe).items() if name in Record.model_fields}
    if items.kind != recipe.kind:
        raise PubmillError(f"the contributions are of {items.kind}, expected {recipe.kind}")
    if items.contributions is None:
        changes: dict[str, Any] = {"metrics": None, "counts": None, "failed": record.failed or "no score"}
    else:
        metrics, counts = evaluated(items.kind, items.contributions.totals())
        changes = {"metrics": metrics, "counts": counts, "failed": None}
    return record.model_copy(update={**own, "data_sha256": items.data_sha256, **changes})
