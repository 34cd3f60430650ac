"""Seeds that are decided when Snakemake starts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.specs import Specs, load
from pubmill.specs.study import Study
from pubmill.stages import Graph
from pubmill.storage.result_paths import RunKey
from pubmill.workflow.preparation import decide_seeds, runs_left
from tests.unit import toy_tables as made_up

MODELS = ("pubmedbert-base", "no-pretraining")
TABLE = "gu2020/table06"


@pytest.fixture(scope="module")
def adaptive_specs(root: Path) -> Specs:
    """The demo's specs, where the protocol of gu2020 decides between two and six seeds."""
    specs = load(root / "specs", "demo")
    blurb = specs.protocols["blurb"]
    final = blurb.final.model_copy(update={"adaptive": True, "seeds": {"default": 6}})
    protocols = specs.protocols | {"blurb": blurb.model_copy(update={"final": final})}
    return specs.__class__(**{**vars(specs), "protocols": protocols})


@pytest.fixture
def graph(adaptive_specs: Specs, tmp_path: Path) -> Callable[[], Graph]:
    """A function that makes the graph of a study of one dataset as a new process would."""
    study = Study(
        study="x", title="X", scale="demo", tables=(TABLE,), models=MODELS, datasets=("bc2gm",),
        results=str(tmp_path),
    )  # fmt: skip
    return lambda: Graph(study, adaptive_specs)


def finish(graph: Graph, seeds: int, gap: float, items: int, dataset: str = "bc2gm") -> None:
    """Write the records of the first seeds of both models."""
    for number, model in enumerate(MODELS):
        for seed in range(1, seeds + 1):
            run = RunKey("blurb", model, dataset, "standard")
            score = 0.5 + number * gap + 0.001 * ((seed * (number + 1)) % 3)
            made_by = graph.records.recipe(run, seed).made_by
            one = made_up.record(
                model, dataset, seed, score, scale="demo", made_by=made_by, counts={"gold": items}
            )
            made_up.write(Path(graph.results), one)
            Path(graph.paths.contributions(graph.paths.record(run, seed))).touch()


def seeds(graph: Graph) -> list[int]:
    return [len(graph.runs.seeds(RunKey("blurb", model, "bc2gm", "standard"))) for model in MODELS]


def decided(graph: Graph) -> Graph:
    decide_seeds(graph)
    return graph


def test_seeds_are_added_while_they_may_decide(graph: Callable[[], Graph]) -> None:
    assert seeds(decided(graph())) == [2, 2]
    finish(graph(), 2, gap=0.05, items=30)
    assert seeds(decided(graph())) == [3, 3]
    finish(graph(), 3, gap=0.3, items=1000)
    assert seeds(decided(graph())) == [3, 3]  # clearly different: nothing more to make
    assert len(decided(graph()).tables.record_files(TABLE)) == 6


def test_the_jobs_of_a_run_see_the_seeds_that_it_began_with(graph: Callable[[], Graph]) -> None:
    finish(graph(), 2, gap=0.05, items=30)
    begun = decided(graph())
    assert seeds(graph()) == [2, 2]  # a dry run keeps nothing
    begun.seed_counts.keep()
    finish(begun, 3, gap=0.05, items=30)
    assert runs_left(begun) == 2
    assert seeds(graph()) == [3, 3]  # a job's own process decides nothing
    assert seeds(decided(graph())) == [4, 4]


def test_only_runs_that_the_study_makes_are_decided(graph: Callable[[], Graph]) -> None:
    """Records of another dataset are on disk: the table shows them, but no job adds to them."""
    finish(graph(), 2, gap=0.05, items=30, dataset="jnlpba")
    begun = decided(graph())
    begun.seed_counts.keep()
    kept = Path(begun.paths.seeds("x")).read_text(encoding="utf-8")
    assert "bc2gm" in kept and "jnlpba" not in kept and runs_left(begun) == 0


def test_a_protocol_with_fixed_seeds_keeps_no_file(root: Path, tmp_path: Path) -> None:
    study = Study(study="x", title="X", scale="demo", tables=(TABLE,), models=MODELS, results=str(tmp_path))
    fixed = decided(Graph(study, load(root / "specs", "demo")))
    fixed.seed_counts.keep()
    assert runs_left(fixed) == 0
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.parametrize("text", ['{"blurb/m/d/s": 0}', '{"blurb/m/d/s": "2"}', "[]"])
def test_a_damaged_file_is_an_error(graph: Callable[[], Graph], text: str) -> None:
    file = Path(graph().paths.seeds("x"))
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PubmillError, match=r"seeds/x.json: expected the number of seeds .* remove the file"):
        seeds(graph())
