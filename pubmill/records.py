"""One record for each scored run: what tables, significance tests and the report read.

A record is the JSON file `.../final/seed-N.json` beside the run's predictions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.errors import PubmillError
from pubmill.examples import TokensExample, is_label_list, read_examples
from pubmill.files import read_json, read_jsonl_gz, sha256, write_json
from pubmill.provenance import provenance

Metric = Callable[[Sequence[Sequence[str]], Sequence[Sequence[str]]], tuple[dict[str, float], dict[str, int]]]

FROM_TRAINING = ("failed", "recipe", "model_sha256", "commit", "packages", "python", "hardware", "seconds")
"""What a record takes over unchanged from the trainer's notes, `seed-N.training.json`."""


@dataclass(frozen=True, kw_only=True)
class ScoringRecipe:
    """All that decides a record besides the predictions; `versions` are those of the stages (several
    numbers where code and spec each have one)."""

    model: str
    dataset: str
    protocol: str
    setting: str
    scale: str
    seed: int
    split: str
    metric: str
    versions: dict[str, int | list[int]]


class Record(BaseModel):
    """A scored run.

    `metrics` are within 0..1; `metric` names the main one; both `metrics` and `counts` are None for
    a run that failed, and `failed` says how. `dev_score` is the trainer's own score on dev, by which
    epochs and hyper-parameters are selected. `recipe` is the training recipe as resolved, `versions`
    those of all stages. `data_sha256` is that of the scored examples file, `trained_on_sha256` what
    the trainer noted of each split it read, `model_sha256` of the weights it began with.
    `commit`, `packages`, `python`, `hardware` and `seconds` are the training's; `scored_with` holds
    commit, packages and python of the scoring.
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


def write_record(path: Path, record: Record) -> None:
    """Write a record, whole or not at all."""
    write_json(path, record.model_dump())


def read_record(path: Path) -> Record:
    """Read a record strictly: unknown, missing and mistyped fields are errors that name the file."""
    return _validated(read_json(path), path)


def score_run(
    recipe: ScoringRecipe, metric: Metric, predictions: Path, examples: Path, training: Path
) -> Record:
    """Score one run's predictions against the examples of its split.

    A run that its trainer marks as failed gives a record without metrics: a failure is a result,
    and no substitute score stands for it.
    """
    gold, trained = list(read_examples(examples, TokensExample)), read_json(training)
    data = sha256(examples)
    _check_training(recipe, trained, training, data)
    metrics, counts = None, None
    if trained["failed"] is None:
        predicted = read_predictions(predictions, gold)
        metrics, counts = metric([example.labels for example in gold], predicted)
    used = provenance()
    values = {
        **vars(recipe),
        "metrics": metrics,
        "counts": counts,
        "dev_score": trained["dev"]["best"],
        "data_sha256": data,
        "trained_on_sha256": trained["data_sha256"],
        "scored_with": {name: used[name] for name in ("commit", "packages", "python")},
        **{name: trained[name] for name in FROM_TRAINING},
    }
    return _validated(values, training)


def read_predictions(path: Path, gold: Sequence[TokensExample]) -> list[list[str]]:
    """Read the predicted labels in the order of `gold`: one line for each of its examples.

    The lines, `{"id", "labels"}`, may be in any order. Missing, extra and repeated ids, and another
    number of labels than words, are `PubmillError`s.
    """
    lengths = {example.id: len(example.words) for example in gold}
    predicted: dict[str, list[str]] = {}
    for number, row in enumerate(read_jsonl_gz(path), 1):
        fault = _fault(row, lengths, predicted)
        if fault:
            raise PubmillError(f"{path}:{number}: {fault}; run the fine-tuning again")
        predicted[row["id"]] = row["labels"]
    missing = [name for name in lengths if name not in predicted]
    if missing:
        raise PubmillError(
            f"{path}: {len(missing)} of {len(gold)} examples have no prediction, the first of them "
            f"{', '.join(missing[:5])}; run the fine-tuning again"
        )
    return [predicted[example.id] for example in gold]


def _fault(row: Any, lengths: dict[str, int], seen: dict[str, list[str]]) -> str | None:
    if not isinstance(row, dict) or row.keys() != {"id", "labels"}:
        return "expected an object with exactly the keys id and labels"
    name, labels = row["id"], row["labels"]
    if not isinstance(name, str) or name not in lengths:
        return f"the id {name!r} isn't one of the examples'"
    if name in seen:
        return f"{name} is predicted for the second time"
    if not is_label_list(labels):
        return f"{name}: expected a list of BIO labels, found {str(labels)[:80]}"
    if len(labels) != lengths[name]:
        return f"{name}: expected {lengths[name]} labels, one for each word, found {len(labels)}"
    return None


def _check_training(recipe: ScoringRecipe, trained: Any, path: Path, data: str) -> None:
    """That the training was of this very run, and on these very examples."""
    needed = {*FROM_TRAINING, "seed", "model", "dev", "data_sha256"}
    if not isinstance(trained, dict) or not needed <= trained.keys():
        present = sorted(trained) if isinstance(trained, dict) else type(trained).__name__
        raise PubmillError(f"{path}: expected at least the keys {sorted(needed)}, found {present}")
    examples = f"sha256 of {recipe.split} examples"
    expected = {"seed": recipe.seed, "model": recipe.model, examples: data}
    found = {**trained, examples: trained["data_sha256"].get(recipe.split)}
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
