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


def test_a_pretraining_asks_by_its_size_and_for_a_day_at_most(targets: Graph) -> None:
    """BERT-base takes more than a day for 62,500 steps on a V100; the next attempt resumes it."""
    memory, minutes = asked(targets, "pretrain", recipe="pubmedbert-base", step="62500")
    assert memory == pytest.approx(
        TORCH + 20 * costs.parameters_of_recipe(targets, "pubmedbert-base") / 1e6, abs=1
    )
    assert 5_000 < memory < 6_000
    assert minutes == DAY
    assert asked(targets, "pretrain", 2, recipe="pubmedbert-base", step="62500") == (2 * memory, DAY)


def test_a_distillation_has_its_teacher_in_memory_too(targets: Graph) -> None:
    student = asked(targets, "pretrain", recipe="bio-lm-base", step="500000")[0]
    distilled = targets.pretrainings.steps("bio-lm-base@distill")[-1]
    taught = asked(targets, "pretrain", recipe="bio-lm-base@distill", step=str(distilled))[0]
    assert taught - student == pytest.approx(costs.bytes_of_model(targets, "bio-lm-large") / 1e6, rel=0.2)


def test_a_fine_tuning_asks_by_its_model_and_data(targets: Graph) -> None:
    run: dict[str, Any] = {"protocol": "blurb", "setting": "standard", "dataset": "jnlpba"}
    base = asked(targets, "finetune", model="pubmedbert-base", **run)
    large = asked(targets, "finetune", model="pubmedbert-large", **run)
    assert large[0] > base[0] > TORCH
    assert large[1] > base[1] >= HOUR
    expected = costs.operations_of_finetuning(
        targets, RunKey("blurb", "pubmedbert-large", "jnlpba", "standard")
    )
    assert expected is not None
    assert large[1] == pytest.approx(5 * 2 * expected / (125e12 * 0.15) / 60, abs=1), "of five seeds"


def test_a_trial_asks_by_its_own_epochs(targets: Graph) -> None:
    run: dict[str, Any] = {"protocol": "blurb", "setting": "standard", "dataset": "jnlpba"}
    run |= {"model": "pubmedbert-large"}
    times = {
        epochs: asked(targets, "trial", trial=f"batch_size=16+epochs={epochs}+learning_rate=1e-05", **run)[1]
        for epochs in (2, 60)
    }
    assert times[60] == pytest.approx(asked(targets, "finetune", **run)[1] * 3 / 5, abs=1), "three seeds"
    assert times[2] == pytest.approx(max(HOUR, times[60] / 30), abs=1) and times[60] > 2 * HOUR


def test_a_vocabulary_learnt_from_text_needs_more_than_one_from_counts(targets: Graph) -> None:
    learners = {
        name: getattr(spec, "learner", None)
        for name, spec in targets.specs.vocabs.items()
        if hasattr(spec, "learner")
    }
    counted = next(name for name, learner in learners.items() if learner == "merges")
    sampled = next(name for name, learner in learners.items() if learner != "merges")
    assert (
        asked(targets, "train_vocab", vocab=sampled)[0] == 4 * asked(targets, "train_vocab", vocab=counted)[0]
    )


@pytest.mark.parametrize(
    ("rule", "memory", "minutes"),
    [
        ("score", 1_000, 60), ("parse", 1_000, 240), ("latest_versions", 4_000, 120),
        ("locked_versions", 4_000, 120), ("lock_corpus", 4_000, 120), ("find_duplicates", 8_000, 480),
        ("index_evaluation_texts", 2_000, 60), ("find_contamination", 1_000, 240),
        ("corpus_statistics", 2_000, 240), ("vocab_diagnosis", 2_000, 60), ("pack", 4_000, 1440),
        ("convert", 2_000, 60), ("annotate", 8_000, 240), ("table", 2_000, 60), ("compare", 2_000, 240),
        ("report", 4_000, 60),
    ],
)  # fmt: skip
def test_jobs_ask_for_the_megabytes_and_minutes_that_they_were_measured_to_need(
    targets: Graph, rule: str, memory: int, minutes: int
) -> None:
    assert asked(targets, rule) == (memory, minutes)


def test_a_model_asks_for_twelve_bytes_a_parameter_and_a_run_of_unknown_size_for_eight_hours(
    targets: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = costs.parameters_of_model(targets, "pubmedbert-base")
    for rule in ("export_model", "take_model"):
        found = asked(targets, rule, model="pubmedbert-base")
        assert found == (round(3_000 + 12 * parameters / 1e6), 60)
    monkeypatch.setattr(costs, "operations_of_finetuning", lambda *_: None)
    run = {"protocol": "blurb", "model": "pubmedbert-base", "setting": "other", "dataset": "gad@blurb"}
    assert asked(targets, "finetune", 1, **run)[1] == 480


def test_sentencepiece_needs_a_third_of_a_day_and_16_gigabytes(targets: Graph) -> None:
    vocabs = {name: spec for name, spec in targets.specs.vocabs.items() if isinstance(spec, LearntVocabSpec)}
    for name, spec in vocabs.items():
        by_sentencepiece = spec.learner.startswith("sentencepiece")
        assert asked(targets, "train_vocab", vocab=name) == (16_000 if by_sentencepiece else 4_000, 480)
    assert asked(targets, "train_vocab", vocab="pubmedbert-base") == (4_000, 480), "a released one"


def test_memory_of_pretraining_is_that_of_torch_weights_optimiser_and_teacher(targets: Graph) -> None:
    """In megabytes of 10^6 bytes."""
    parameters = costs.parameters_of_recipe(targets, "bio-lm-base")
    state = OPTIMISERS["adamw"].training_bytes
    alone = asked(targets, "pretrain", recipe="bio-lm-base", step="500000")[0]
    assert alone == round(3_000 + state * parameters / 1e6)
    taught = asked(targets, "pretrain", recipe="bio-lm-base@distill", step="50000")[0]
    assert taught == alone + round(costs.bytes_of_model(targets, "bio-lm-large") / 1e6)
    run = {"protocol": "blurb", "model": "pubmedbert-base", "setting": "standard", "dataset": "bc2gm"}
    model = costs.parameters_of_model(targets, "pubmedbert-base")
    assert asked(targets, "finetune", 1, **run)[0] == round(3_000 + (state + 4) * model / 1e6)


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
