"""Which records a changed metric scores again."""

from dataclasses import replace

import pytest

from pubmill.metrics import METRICS, metrics_of
from pubmill.specs import DatasetSpec
from pubmill.stages.run_stages import scoring_versions

TASKS = [("span", "factoid", "mrr"), ("span", "reading", "f1"), ("tokens", "ner", "entity_f1")]


@pytest.mark.parametrize(("metric", "changed"), [("mrr", ["factoid"]), ("f1", ["factoid", "reading"])])
def test_a_changed_metric_scores_only_records_that_it_fits(
    metric: str, changed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = [DatasetSpec.model_construct(kind=k, task=t, metric=m, version=1) for k, t, m in TASKS]
    before = [scoring_versions(one) for one in data]
    assert before[1]["metrics"] == [1] * len(metrics_of("span"))
    monkeypatch.setitem(METRICS, metric, replace(METRICS[metric], version=METRICS[metric].version + 1))
    after = [scoring_versions(one) for one in data]
    found = zip(data, before, after, strict=True)
    assert [one.task for one, old, new in found if old != new] == changed
