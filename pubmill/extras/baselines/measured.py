"""Floors of converted datasets: their predictions, written like those of a run, and their scores."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.examples.kinds import (
    KINDS,
    Example,
    MultilabelExample,
    RegressionExample,
    SpanExample,
    Split,
    TokensExample,
    read_examples,
)
from pubmill.extras.baselines.answer_floors import ANSWERS
from pubmill.extras.baselines.baselines_recipes import FloorsRecipe
from pubmill.extras.baselines.floor import Floor
from pubmill.extras.baselines.label_floors import LABELS
from pubmill.extras.baselines.mentions import MENTIONS
from pubmill.extras.baselines.text_floors import TEXTS
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Scored
from pubmill.specs import DatasetSpec
from pubmill.storage.files import sealed, sha256, write_json, write_jsonl_gz
from pubmill.storage.result_paths import PREDICTIONS, RECORD

FLOORS: tuple[Floor, ...] = (*MENTIONS, *LABELS, *TEXTS, *ANSWERS)
GIVEN_AWAY = 0.99
"""Lowest score of a floor that shows a leak: the part of the input that the floor reads gives the labels."""


class MeasuredFloor(NamedTuple):
    """The scores of a floor on a split, as fractions. `score`: by the dataset's main metric, None if that is
    not defined for the predictions."""

    dataset: str
    floor: str
    definition: str
    split: Split
    metric: str
    score: float | None
    metrics: dict[str, float]
    counts: dict[str, int]
    data_sha256: str
    known_sha256: dict[str, str]

    @property
    def gives_labels_away(self) -> bool:
        return self.score is not None and self.score >= GIVEN_AWAY


def floors_of(kind: str, task: str) -> list[Floor]:
    """Return the floors for a kind of examples in a task."""
    return [floor for floor in FLOORS if floor.fits(kind, task)]


def measure_floors(
    data: DatasetSpec | FloorsRecipe, files: Mapping[str, Path], output: Path, split: Split = "test"
) -> list[MeasuredFloor]:
    """Predict a split by each floor that applies; write predictions and scores into a folder.

    `files`: split -> file of its examples. The same examples give the same bytes.
    """
    kind = KINDS[data.kind]
    floors = floors_of(data.kind, data.task)
    examples: dict[Split, list[Example]] = {
        name: list(read_examples(files[name], kind))
        for name in dict.fromkeys((split, *(one for floor in floors for one in floor.splits)))
        if name in files
    }
    if not examples.get(split) or not examples.get("train"):
        raise PubmillError(f"{data.name} needs examples in train and {split}; convert it again")
    made = (_measure(data, floor, examples, files, output, split) for floor in floors)
    return [one for one in made if one is not None]


def _measure(
    data: DatasetSpec | FloorsRecipe,
    floor: Floor,
    examples: Mapping[Split, Sequence[Example]],
    files: Mapping[str, Path],
    output: Path,
    split: Split,
) -> MeasuredFloor | None:
    """Predict and score by one floor; None if it does not apply to the examples."""
    splits = [name for name in floor.splits if name in examples]
    known = [example for name in splits for example in examples[name]]
    predicted = floor.predict(known, examples[split], data.negative)
    if predicted is None:
        return None
    scored: Scored = SCORERS[data.kind](examples[split], predicted, data.negative)
    record = MeasuredFloor(
        dataset=data.name,
        floor=floor.name,
        definition=floor.definition,
        split=split,
        metric=data.metric,
        score=scored.metrics.get(data.metric),
        metrics=scored.metrics,
        counts=scored.counts,
        data_sha256=sha256(files[split]),
        known_sha256={name: sha256(files[name]) for name in splits},
    )
    rows = [row(*both) for both in zip(examples[split], predicted, strict=True)]
    write_jsonl_gz(output / f"{floor.name}{PREDICTIONS}", rows, private=data.access != "public")
    write_json(output / f"{floor.name}{RECORD}", sealed(record._asdict()))
    return record


def row(example: Example, prediction: Any) -> dict[str, object]:
    """Return a line of a file of predictions."""
    if isinstance(example, TokensExample | MultilabelExample):
        return {"id": example.id, "labels": prediction}
    if isinstance(example, RegressionExample):
        return {"id": example.id, "score": prediction}
    if isinstance(example, SpanExample):
        answers = [{"text": text, "probability": probability} for text, probability in prediction]
        return {"id": example.id, "answers": answers}
    return {"id": example.id, "label": prediction}
