"""Causes of jobs, of Snakemake's own reasons."""

import json

import pytest
from snakemake.jobs import Reason
from snakemake.persistence import ParamsChange

from pubmill.planning.plan import Job
from pubmill.workflow.causes import (
    INTERRUPTED,
    NOT_MADE,
    OTHER_INPUTS,
    OTHER_SOFTWARE,
    cause_lines,
    cause_of,
    with_grid_causes,
)

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


@pytest.mark.parametrize(
    ("field", "cause"), [("input_changed", OTHER_INPUTS), ("software_stack_changed", OTHER_SOFTWARE)]
)
def test_other_files_and_software_come_before_what_is_missing(field: str, cause: str) -> None:
    reason = Reason()
    setattr(reason, field, {"a.json"})
    reason.missing_output.add("b.json")
    reason.forced = True
    assert cause_of(reason, {}) == cause


@pytest.mark.parametrize(
    ("files", "cause"), [("a", "newer: a"), ("ab", "newer: a, b"), ("abcd", "newer: a, b and 2 more")]
)
def test_two_newer_files_are_named(files: str, cause: str) -> None:
    reason = Reason()
    reason.updated_input.update(files)
    assert cause_of(reason, {}) == cause


@pytest.mark.parametrize(
    ("length", "shown"), [(38, f'"{"x" * 38}"'), (39, f'"{"x" * 36}...'), (80, f'"{"x" * 36}...')]
)
def test_a_long_text_is_cut(length: int, shown: str) -> None:
    assert cause_of(changed({"a": 1}, {"a": "x" * length}), {}) == f"the study: a 1 -> {shown}"


def test_causes_of_as_many_jobs_are_sorted_and_without_others_nothing_follows() -> None:
    jobs = [Job("trial", {}, True, "b"), Job("trial", {}, True, "a")]
    assert list(cause_lines(jobs)) == ["a: 1 trial", "b: 1 trial"]
    assert list(cause_lines([])) == []


def test_each_cause_is_one_line_with_its_jobs_and_the_largest_first() -> None:
    jobs = [Job("trial", {}, True, "warmup")] * 3 + [Job("finetune", {}, True, "warmup")]
    jobs += [Job("table", {}, True), Job("score", {}, False), Job("download", {}, True, NOT_MADE)]
    assert list(cause_lines(jobs)) == [
        "warmup: 3 trials, 1 finetune",
        f"{NOT_MADE}: 1 download",
        "and what follows from these: 1 table",
    ]


def test_trials_of_a_widened_grid_name_the_new_values() -> None:
    run = {"protocol": "blurb", "dataset": "bc2gm", "setting": "standard"}
    points = {"learning_rate=1e-05+size=1e+05": False, "learning_rate=3e-05+size=1e+05": True}

    def trials(**of: str) -> list[Job]:
        cause = {False: "", True: NOT_MADE}
        return [
            Job("trial", {**run, **of, "trial": point}, to_do, cause[to_do])
            for point, to_do in points.items()
        ]

    jobs = [*trials(model="bert"), Job("finetune", {**run, "model": "bert", "seed": "1"}, True)]
    jobs += [*trials(model="other"), *trials(model="bert", dataset="gad")]
    named = "specs/protocols/blurb.yaml: new in the grid: learning_rate=3e-05"
    found = with_grid_causes(jobs, {("blurb", "bc2gm", "standard")})
    assert [job.cause for job in found] == ["", named, "", "", named, "", NOT_MADE]
    assert with_grid_causes(jobs, ()) == jobs, "the first search was interrupted"


def test_a_further_model_or_seed_of_a_search_is_not_a_change_of_its_grid() -> None:
    names = {"protocol": "blurb", "dataset": "bc2gm", "setting": "standard", "trial": "a=1"}
    jobs = [
        Job("trial", {**names, "model": "bert", "seed": "1"}, False),
        Job("trial", {**names, "model": "bert", "seed": "2"}, True, NOT_MADE),
        Job("trial", {**names, "model": "new", "seed": "1"}, True, NOT_MADE),
    ]
    assert with_grid_causes(jobs, {("blurb", "bc2gm", "standard")}) == jobs
