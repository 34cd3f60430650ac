"""The report on a fine-tuning, `SPLIT.training.json` beside its predictions and in a kept model's folder."""

from collections.abc import Mapping
from typing import Any, TypedDict


class DevCourse(TypedDict):
    """Scores on dev in the course of a training. `best`: the highest, after `best_step` steps (`best_epoch`
    epochs); all three are None without a score."""

    metric: str | None
    steps: list[int]
    scores: list[float]
    best_step: int | None
    best_epoch: float | None
    best: float | None


class RunIdentity(TypedDict):
    """What was trained. `model`: name of the pretrained model; `model_sha256`: None if the run that made the
    model kept no weights; `data_sha256`: split -> digest, for each split that was read; `start_failed`,
    `search_failed`: why that run, or all trials of the hyper-parameter search, failed."""

    seed: int
    split: str
    dev_split: str | None
    model: str
    model_sha256: str | None
    data_sha256: dict[str, str]
    start_failed: str | None
    search_failed: str | None


class TrainingCourse(TypedDict):
    """The training and its course. `recipe`: values of a `FinetuningRecipe`, null where a failed search was
    to decide; `tokens` and `tokens_per_second`: those that were trained on, padding left out."""

    recipe: dict[str, Any]
    dev: DevCourse
    loss_by_epoch: list[float]
    steps: int
    steps_on_train_and_dev: int | None
    tokens: int
    tokens_per_second: int | None


class MadeWith(TypedDict):
    """Code and machine. `commit`: None if unknown; `packages`: name -> version."""

    commit: str | None
    packages: dict[str, str]
    python: str
    hardware: Mapping[str, Any]


class TrainingReport(RunIdentity, TrainingCourse, MadeWith):
    """Content of the file, which also has a digest of itself and, for data that are not public, their access
    class. `failed`: why there are no predictions; `encoded`: counts of changes that were needed to encode
    examples; `seconds`: of the whole run."""

    head_from_start: bool | None
    max_length: int | None
    labels: list[str]
    encoded: dict[str, int]
    failed: str | None
    seconds: float


class WrittenReport(TrainingReport):
    """A report in its file. `made_from`: digest of all that decides the files of the seed; "" if unknown."""

    made_from: str
