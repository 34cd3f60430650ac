"""Requests of jobs from a cluster, under profiles that are there and made up."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.planning.cluster_plan import HERE, ClusterRequest, read_profile, requests, requests_table
from pubmill.planning.plan import Job
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus
from pubmill.stages.pretrainings import Pretrain
from pubmill.stages.stage import DAY
from tests.unit.toy_studies import study_of

GPUS = Gpus({"V100": 1e14}, {"pretraining": 0.5, "finetuning": 0.25})
RUN = {"protocol": "blurb", "model": "bert-base-uncased", "dataset": "bc2gm", "setting": "standard"}
JOBS = [
    Job("download", {"path": "example.org/a.zip"}, True), Job("finetune", {**RUN, "seed": "1"}, True),
    Job("finetune", {**RUN, "seed": "2"}, True), Job("finetune", {**RUN, "seed": "3"}, False),
    Job("table", {"results_table": "gu2020-table06"}, True),
]  # fmt: skip


@pytest.fixture(scope="module")
def graph(root: Path) -> Graph:
    return Graph(*study_of(root, scale="full"))


def test_slurms_profile_decides_partitions_and_gpus_and_the_stages_memory_and_time(
    graph: Graph, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    found = {one.rule: one for one in requests(JOBS, graph, GPUS, read_profile("slurm"))}
    assert list(found) == ["download", "finetune", "table"]
    assert found["download"][:4] == ("download", 1, HERE, 0)
    assert found["finetune"][:4] == ("finetune", 2, "gpu", 1)
    assert found["finetune"].minutes >= 60
    assert found["table"][:4] == ("table", 1, "cpu", 0)


def test_a_profile_may_set_memory_and_time_and_one_machine_has_no_partitions(graph: Graph) -> None:
    own = {"executor": "slurm", "set-resources": {"finetune": {"mem_mb": 9000, "runtime": 30}}}
    assert requests(JOBS[1:3], graph, GPUS, own) == [ClusterRequest("finetune", 2, "", 0, 9000, 30)]
    assert requests(JOBS[1:2], graph, GPUS, {})[0].partition == HERE


def test_a_segment_of_pretraining_requests_a_day_at_most_and_resumes(graph: Graph) -> None:
    segment = Job("pretrain", {"recipe": "pubmedbert-base", "step": "62500"}, True)
    assert graph.stage(Pretrain).needs_of(segment.named_wildcards, GPUS).minutes > DAY
    assert requests([segment], graph, GPUS, {"executor": "slurm"})[0].minutes == DAY


def test_an_unknown_profile_is_refused_with_those_that_there_are(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(PubmillError, match="no profile slrum: .*cluster-generic, gpu, local, slurm"):
        read_profile("slrum")


def test_the_table_fits_80_columns() -> None:
    said = io.StringIO()
    rows = [ClusterRequest("index_evaluation_texts", 12345, HERE, 1, 128_000, 100_000)]
    Console(file=said, width=80).print(requests_table(rows))
    assert [" ".join(line.split()) for line in said.getvalue().splitlines()][3] == (
        f"index_evaluation_texts 12,345 {HERE} 1 128.0 1,666.7"
    )


def test_a_profile_with_a_fault_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("executor: slurm\nexecutor: local\n")
    with pytest.raises(PubmillError, match=r"config\.yaml:2"):
        read_profile(str(tmp_path))
