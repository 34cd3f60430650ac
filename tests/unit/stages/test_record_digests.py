"""The digest that a record carries changes with the recipes and stages that decide it, with nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import DatasetSpec, Specs
from pubmill.specs.study import Study, check_study
from pubmill.stages import Graph, checked_graph
from pubmill.stages.run_stages import Finetune, scoring_versions
from pubmill.stages.stage import stages
from pubmill.storage.result_paths import RunKey

RUN = RunKey("blurb", "pubmedbert-base", "bc5-chem", "standard")
COUNTED = {"export_model", "convert", "finetune", "trial", "choose", "score"}
"""Stages whose versions count; those before the model's export are known by the hash of its weights."""


@pytest.fixture(scope="module")
def specs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs") / "specs"
    shutil.copytree(root / "specs", folder)
    return folder


def loaded(specs: Path, **config: Any) -> tuple[Study, Specs]:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return check_study({**base, **config}, specs)


def digest(study: tuple[Study, Specs], run: RunKey = RUN) -> str:
    return checked_graph(*study).records.made_by(run)


def made_by(specs: Path, **config: Any) -> str:
    return digest(loaded(specs, **config))


@pytest.fixture(scope="module")
def study(specs: Path) -> tuple[Study, Specs]:
    """The study and its specs, without changes."""
    return loaded(specs)


@pytest.mark.parametrize("stage", stages())
def test_the_version_of_a_stage_counts_where_it_decides_the_record(
    study: tuple[Study, Specs], stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(study)
    monkeypatch.setattr(stages()[stage], "version", stages()[stage].version + 1)
    assert (digest(study) != before) == (stage in COUNTED)


@pytest.mark.parametrize(("setting", "part", "counts"), [
    ("standard", "ner", True), ("standard", "relation", False), ("standard", "crf", False),
    ("standard", "bilstm", False), ("head=bilstm", "bilstm", True),
])  # fmt: skip
def test_an_amended_part_counts_only_for_jobs_that_use_it(
    study: tuple[Study, Specs], setting: str, part: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RUN._replace(setting=setting)
    before, stage = digest(study, run), Graph(*study).stage(Finetune)
    monkeypatch.setattr(Finetune, "part_versions", {part: 1})
    assert (digest(study, run) != before) == counts
    changed = [Finetune.version, 1] if counts else Finetune.version
    assert stage.version_of(SimpleNamespace(**run._asdict())) == changed


@pytest.mark.parametrize(("metric", "changed"), [
    ("entity_f1", ["ner"]), ("mrr", ["factoid"]), ("f1", ["factoid", "reading"]), ("pearson", []),
])  # fmt: skip
def test_a_changed_metric_scores_only_records_that_it_fits(
    study: tuple[Study, Specs], metric: str, changed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [("span", "factoid", "mrr"), ("span", "reading", "f1"), ("tokens", "ner", "entity_f1")]
    data = [DatasetSpec.model_construct(kind=k, task=t, metric=m, version=1) for k, t, m in tasks]
    before, before_run = [scoring_versions(one) for one in data], digest(study)
    assert before[1]["metrics"] == [1] * len(metrics_of("span"))
    monkeypatch.setitem(METRICS, metric, replace(METRICS[metric], version=METRICS[metric].version + 1))
    found = zip(data, before, [scoring_versions(one) for one in data], strict=True)
    assert [one.task for one, old, new in found if old != new] == changed
    assert (digest(study) != before_run) == ("ner" in changed)


@pytest.mark.parametrize(("file", "old", "new", "counts"), [
    ("datasets/bc5-chem.yaml", "\nversion: 1", "\nversion: 2", True),
    ("datasets/jnlpba.yaml", "\nversion: 1", "\nversion: 2", False),
    ("protocols/blurb.yaml", "weight_decay: 0.0", "weight_decay: 0.1", True),
    ("protocols/blurb.yaml", "aggregate: mean", "aggregate: median", False),
    ("pretraining/pubmedbert-base.yaml", "masking_rate: 0.15", "masking_rate: 0.2", True),
    ("scales/demo.yaml", "pubmed-uncased: {size: 2000}", "pubmed-uncased: {size: 1900}", False),
    ("scales/demo.yaml", "values: {head_sizes: [32]}", "values: {head_sizes: [64]}", False),
])  # fmt: skip
def test_specs_count_where_they_decide_the_record(
    study: tuple[Study, Specs], specs: Path, file: str, old: str, new: str, counts: bool
) -> None:
    before, path = digest(study), specs / file
    text = path.read_text()
    assert text.count(old) == 1
    try:
        path.write_text(text.replace(old, new))
        assert (made_by(specs) != before) == counts
    finally:
        path.write_text(text)


def test_it_does_not_depend_on_what_the_study_asks_for_or_where_files_are(
    study: tuple[Study, Specs], specs: Path, tmp_path: Path
) -> None:
    before = digest(study)
    assert before == made_by(specs, datasets=["bc2gm"], models=["no-pretraining"], tables=["gu2020/table02"])
    assert before == made_by(specs, results=str(tmp_path), local_files={"x": str(tmp_path)}, keep_models=True)


@pytest.mark.parametrize("other", [
    ("blurb", "no-pretraining", "bc5-chem", "standard"), ("blurb", "pubmedbert-base", "jnlpba", "standard"),
    ("off-the-shelf", "scispacy-bc5cdr", "bc5-chem", "as-it-is"),
])  # fmt: skip
def test_other_runs_have_other_digests(study: tuple[Study, Specs], other: tuple[str, str, str, str]) -> None:
    assert digest(study, RunKey(*other)) != digest(study)


def test_every_record_of_every_table_has_one(root: Path) -> None:
    """Of all protocols: chains, folds, choices of each model."""
    names = [f"{p.parent.name}/{p.stem}" for p in sorted((root / "specs/tables").glob("*/*.yaml"))]
    config = {"study": "x", "title": "x", "scale": "full", "tables": names}
    made = checked_graph(*check_study(config, root / "specs"))
    runs = {
        RunKey(*path.split("/")[3:7])
        for table in made.requests.result_tables()
        for path in made.tables.record_files(table)
    }
    digests = {made.records.made_by(run) for run in runs}
    assert len(digests) == len(runs) > 500
