"""Resources that jobs request from a cluster."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from pubmill.graph import Graph, checked_graph
from pubmill.planning import costs
from pubmill.planning.gpus import Gpus
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.workflow.resources import DAY, HOUR, LITTLE, RULES, TORCH, resources

GPUS = Gpus({"V100": 125e12, "H100": 989e12}, {"pretraining": 0.4, "finetuning": 0.15})


@pytest.fixture(scope="module")
def targets(root: Path) -> Graph:
    return checked_graph(Study(study="x", title="x", scale="full", tables=()), load(root / "specs", "full"))


def asked(targets: Graph, rule: str, attempt: int = 1, **wildcards: str) -> tuple[int, int]:
    found = resources(targets, GPUS)(rule)
    of = SimpleNamespace(**wildcards)
    return found["mem_mb"](of, attempt), found["runtime"](of, attempt)


def test_memory_doubles_and_time_grows_at_each_attempt(targets: Graph) -> None:
    assert asked(targets, "score") == LITTLE
    assert asked(targets, "latest_versions", 2) == (8_000, 4 * HOUR)
    assert asked(targets, "latest_versions", 3) == (16_000, 6 * HOUR)


def test_every_rule_asks_and_every_need_is_of_a_rule(root: Path) -> None:
    rules = {}
    for path in (root / "rules").glob("*.smk"):
        for text in re.split(r"(?m)^(?=(?:use )?rule )", path.read_text()):
            if named := re.match(r"(?:use )?rule (?:\w+ as )?(\w+)", text):
                rules[named[1]] = text
    assert len(rules) > 30
    for name, text in rules.items():
        assert f'**needs("{name}")' in text, name
    assert set(RULES) <= set(rules)


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
    run = {"protocol": "blurb", "setting": "standard", "dataset": "jnlpba", "seed": "1"}
    base = asked(targets, "finetune", model="pubmedbert-base", **run)
    large = asked(targets, "finetune", model="pubmedbert-large", **run)
    assert large[0] > base[0] > TORCH
    assert large[1] > base[1] >= HOUR
    expected = costs.operations_of_finetuning(targets, "blurb", "pubmedbert-large", "jnlpba", "standard")
    assert expected is not None
    assert large[1] == pytest.approx(2 * expected / (125e12 * 0.15) / 60, abs=1)


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
