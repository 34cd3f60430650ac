"""Causes of jobs, of Snakemake's own reasons."""

import json

import pytest
from snakemake.jobs import Reason
from snakemake.persistence import ParamsChange

from pubmill.planning.job import Job
from pubmill.workflow.causes import INTERRUPTED, NOT_MADE, cause_lines, cause_of

RUN = {"protocol": "blurb", "model": "bert-base-uncased", "dataset": "bc5cdr-disease", "seed": "1"}


def changed(old: object, new: object) -> Reason:
    """Return a reason with parameters as Snakemake records them: by `repr`, recipes as JSON."""
    texts = [{repr(json.dumps(one) if isinstance(one, dict) else one)} for one in (old, new)]
    reason = Reason()
    reason.params_changed = ParamsChange(*texts, {"a.json"})
    return reason


def test_a_changed_recipe_is_named_by_its_spec_and_its_values() -> None:
    reason = changed({"warmup": 0.1, "epochs": 3}, {"warmup": 0.2, "epochs": 3})
    assert cause_of(reason, RUN) == "specs/protocols/blurb.yaml: warmup 0.1 -> 0.2"
    longer = changed({"datasets": [{"dataset": "bc2gm"}]}, {"datasets": [{"dataset": "bc2gm"}] * 26})
    assert cause_of(longer, {}) == 'the study: datasets [{"dataset": "bc2gm"}] -> 26 values'
    added = changed({"objective": {"mlm": 1}}, {"objective": {"mlm": 1, "nsp": True}})
    assert cause_of(added, {"recipe": "mine"}) == "specs/pretraining/mine.yaml: objective.nsp none -> true"


@pytest.mark.parametrize("version", [3, [3, 1]])
def test_a_raised_version_of_a_stage_is_not_taken_for_a_value_of_a_spec(version: object) -> None:
    cause = cause_of(changed(2, version), RUN)
    assert cause == f"the program: the stage's version 2 -> {version}"


def test_missing_and_newer_files_and_what_follows_from_other_jobs() -> None:
    missing, newer, follows, forced = Reason(), Reason(), Reason(), Reason()
    missing.missing_output.add("b.json")
    newer.updated_input.update({"c", "a", "b"})
    follows.updated_input_run.add("b.json")
    forced.forced = True
    causes = [cause_of(reason, {}) for reason in (missing, newer, follows, forced)]
    assert causes == [NOT_MADE, "newer: a, b and 1 more", "", INTERRUPTED]


def test_each_cause_is_one_line_with_its_jobs_and_the_largest_first() -> None:
    jobs = [Job("trial", {}, True, "warmup")] * 3 + [Job("finetune", {}, True, "warmup")]
    jobs += [Job("table", {}, True), Job("score", {}, False), Job("download", {}, True, NOT_MADE)]
    assert list(cause_lines(jobs)) == [
        "warmup: 3 trials, 1 finetune",
        f"{NOT_MADE}: 1 download",
        "and what follows from these: 1 job",
    ]
