"""Resources that jobs request from a cluster."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.optimisers import OPTIMISERS
from pubmill.specs import LearntVocabSpec, load
from pubmill.specs.study import Study
from pubmill.stages import Graph, costs
from pubmill.stages.costs import TORCH
from pubmill.stages.gpus import Gpus
from pubmill.stages.pretrainings import Pretrain
from pubmill.stages.stage import DAY, DEFAULT_NEEDS, HOUR, Bytes, stages
from pubmill.storage.result_paths import RunKey

GPUS = Gpus({"V100": 125e12, "H100": 989e12}, {"pretraining": 0.4, "finetuning": 0.15})


@pytest.fixture(scope="module")
def targets(root: Path) -> Graph:
    study = Study(study="x", title="x", scale="full", tables=())
    return Graph(study, load(root / "specs", "full"), gpus=GPUS)


def asked(targets: Graph, rule: str, attempt: int = 1, **wildcards: str) -> tuple[int, int]:
    found = targets.stage(stages()[rule]).resources
    of = SimpleNamespace(**wildcards)
    return found["mem_mb"](of, attempt), found["runtime"](of, attempt)


def test_memory_doubles_and_time_grows_at_each_attempt(targets: Graph) -> None:
    assert asked(targets, "score") == DEFAULT_NEEDS
    assert asked(targets, "latest_versions", 2) == (8_000, 4 * HOUR)
    assert asked(targets, "latest_versions", 3) == (16_000, 6 * HOUR)


def test_a_pretraining_asks_for_a_day_at_most(targets: Graph) -> None:
    """BERT-base takes more than a day for 62,500 steps on a V100; the next attempt resumes it."""
    memory, minutes = asked(targets, "pretrain", recipe="pubmedbert-base", step="62500")
    assert 5_000 < memory < 6_000 and minutes == DAY
    assert asked(targets, "pretrain", 2, recipe="pubmedbert-base", step="62500") == (2 * memory, DAY)


RUN: dict[str, Any] = {"protocol": "blurb", "setting": "standard", "dataset": "jnlpba"}


def test_a_fine_tuning_asks_by_its_model_and_data_and_a_trial_by_its_epochs(targets: Graph) -> None:
    base, (memory, minutes) = (
        asked(targets, "finetune", model=f"pubmedbert-{size}", **RUN) for size in ("base", "large")
    )
    assert memory > base[0] > TORCH and minutes > base[1] >= HOUR
    run = RUN | {"model": "pubmedbert-large"}
    expected = costs.operations_of_finetuning(targets, RunKey(**run))
    assert expected is not None
    assert minutes == pytest.approx(5 * 2 * expected / (125e12 * 0.15) / 60, abs=1), "of five seeds"
    short, long = (
        asked(targets, "trial", trial=f"batch_size=16+epochs={point}", **run)[1]
        for point in ("2+learning_rate=1e-05", "20+learning_rate=5e-05")
    )
    assert long == pytest.approx(minutes * (20 + 3 * 60) / 60 * 3 / 5, abs=1), "four points of three seeds"
    assert short == pytest.approx(max(HOUR, long * (3 * 2 + 6) / 200), abs=1) and long > 2 * HOUR


def test_an_export_asks_for_twelve_bytes_a_parameter_and_a_run_of_unknown_size_for_eight_hours(
    targets: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = costs.parameters_of_model(targets, "pubmedbert-base")
    found = asked(targets, "take_model", model="pubmedbert-base")
    assert found == (round(3_000 + 12 * parameters / 1e6), 60)
    monkeypatch.setattr(costs, "operations_of_finetuning", lambda *_: None)
    assert asked(targets, "finetune", model="pubmedbert-base", **RUN | {"setting": "other"})[1] == 480


def test_sentencepiece_needs_a_third_of_a_day_and_16_gigabytes(targets: Graph) -> None:
    for name, spec in targets.specs.vocabs.items():
        by_sentencepiece = isinstance(spec, LearntVocabSpec) and spec.learner.startswith("sentencepiece")
        assert asked(targets, "train_vocab", vocab=name) == (16_000 if by_sentencepiece else 4_000, 480)


def test_memory_of_pretraining_is_that_of_torch_weights_optimiser_and_teacher(targets: Graph) -> None:
    """In megabytes of 10^6 bytes."""
    parameters = costs.parameters_of_recipe(targets, "bio-lm-base")
    state = OPTIMISERS["adamw"].training_bytes
    alone = asked(targets, "pretrain", recipe="bio-lm-base", step="500000")[0]
    assert alone == round(3_000 + state * parameters / 1e6)
    taught = asked(targets, "pretrain", recipe="bio-lm-base@distill", step="50000")[0]
    assert taught == alone + round(costs.bytes_of_model(targets, "bio-lm-large") / 1e6)
    run, model = RUN | {"model": "pubmedbert-base"}, costs.parameters_of_model(targets, "pubmedbert-base")
    assert asked(targets, "finetune", **run)[0] == round(3_000 + (state + 4) * model / 1e6)


def test_a_pretraining_asks_for_twice_its_expected_time_and_an_hour_at_least(targets: Graph) -> None:
    step = targets.pretrainings.steps("pubmedbert-base")[0]
    operations = costs.operations_of_segment(targets, "pubmedbert-base", step)
    share = GPUS.share(costs.architecture_of(targets, "pubmedbert-base"), 128)

    def minutes(hours: float) -> int:
        gpus = replace(GPUS, peaks={"V100": operations / (hours * 3600 * share), "H100": 1e20})
        segment = SimpleNamespace(recipe="pubmedbert-base", step=str(step))
        return targets.stage(Pretrain).needs_of(segment, gpus).minutes

    assert [minutes(0.1), minutes(0.5), minutes(3.0)] == [60, 60, 360]


@pytest.mark.parametrize(("model", "downloaded"), [("pubmedbert-base", True), ("bio-lm-base", False)])
def test_an_export_downloads_only_released_weights(targets: Graph, model: str, downloaded: bool) -> None:
    size = costs.bytes_of_model(targets, model)
    found = targets.stage(stages()["export_model"]).bytes_of(SimpleNamespace(model=model))
    assert found == Bytes(assumed=size * downloaded, disk=size)
