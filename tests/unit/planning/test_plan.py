"""Cost of a study: operations compared with figures computed by hand, sums over jobs, parts of batches."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.planning.plan import (
    ADVICE,
    Job,
    LongestBatch,
    divided,
    longest_batch,
    make_plan,
    measured_seconds,
    recipes_at_full,
    search_lines,
)
from pubmill.planning.plan_printing import print_plan
from pubmill.pretraining.arithmetic import BASE, LARGE, operations, operations_of_step, parameters, shape_of
from pubmill.recipes.models import LocalWeights
from pubmill.specs import ArchiveWeights, Specs
from pubmill.specs.study import Study
from pubmill.stages import Graph, costs
from pubmill.stages.costs import architecture_of, operations_of_finetuning, operations_of_pretraining
from pubmill.stages.gpus import Gpus, read_gpus
from pubmill.stages.run_stages import Finetune
from pubmill.stages.stage import ASSUMED
from pubmill.storage.result_paths import Paths, RunKey, paths_of_scale

GPUS = Gpus({"A": 1e12, "B": 2e12}, {"pretraining": 0.5, "finetuning": 0.25})


@pytest.fixture(scope="module")
def targets(full_specs: Specs) -> Graph:
    return study_graph(full_specs)


def study_graph(specs: Specs, scale: str = "full", **study: Any) -> Graph:
    return Graph(Study(study="x", title="x", scale=scale, **{"tables": (), **study}), specs)


def test_a_fine_tuning_is_examples_times_epochs(targets: Graph) -> None:
    """BC2GM has 12,574 sentences; BLURB's runs see them 60 times, 40 tokens each. Attention's own products
    and the head add a fiftieth at most."""
    found, tokens = operations_of(targets), 12_574 * 60 * 40
    encoder = 12 * (4 * 768**2 + 2 * 768 * 3072)
    assert found is not None and 1 < found / (6 * tokens * encoder) < 1.02
    assert operations_of(targets, dataset="bioasq-yesno")


def test_sizes_are_declared_and_no_name_decides(full_specs: Specs) -> None:
    changed = with_model(full_specs, "roberta-large", "my-small-one", size=None)
    found = study_graph(changed)
    assert architecture_of(found, "roberta-large") is LARGE
    assert architecture_of(found, "roberta-base") is architecture_of(found, "my-small-one") is BASE
    assert architecture_of(found, "megatron-345m-cased") is LARGE
    assert architecture_of(found, "pubmedbert-large").layers == 24
    xxlarge = shape_of(architecture_of(found, "albert-xxlarge"), 30_000)
    assert parameters(xxlarge) == 30_000 * 128 + 128 * 4096 + 4 * 4096**2 + 2 * 4096 * 16_384


RUN = {"protocol": "blurb", "model": "bert-base-uncased", "dataset": "bc2gm", "setting": "standard"}


def operations_of(graph: Graph, **changes: str) -> float | None:
    return operations_of_finetuning(graph, RunKey(**RUN | changes))


@pytest.mark.parametrize(("config", "layers", "width", "inner"), [
    ({"num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 128, "vocab_size": 99}, 2, 64, 128),
    ({"n_layers": 6, "dim": 768, "hidden_dim": 3072, "model_type": "distilbert"}, 6, 768, 3072),
    ({"n_layer": 4, "n_embd": 96, "n_inner": None, "model_type": "gpt2"}, 4, 96, 384),
    ({"num_hidden_layers": "two", "hidden_size": 64}, 24, 1024, 4096), ([], 24, 1024, 4096),
    (None, 24, 1024, 4096),
])  # fmt: skip
def test_a_folder_has_the_size_that_its_own_configuration_states(
    full_specs: Specs, tmp_path: Path, config: object, layers: int, width: int, inner: int
) -> None:
    """Without a configuration that says it, a folder counts as large."""
    folder = tmp_path / "bert"
    folder.mkdir()
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    specs = with_model(
        full_specs, "bert-base-uncased", "own", released=None, size=None,
        weights=LocalWeights(kind="folder", local="own"),
    )  # fmt: skip
    shape = costs.shape_of_model(study_graph(specs, local_files={"own": str(folder)}), "own")
    assert (shape.layers, shape.hidden, shape.intermediate) == (layers, width, inner)
    assert shape.pieces == (99 if inner == 128 else 30_522)


def test_fine_tuning_has_the_share_that_was_measured(root: Path, targets: Graph) -> None:
    """3,396 examples a second on ChemProt and 2,484 on NCBI-disease, by BERT-base on an H100."""
    gpus = read_gpus(root / "specs", root / "benchmarks")
    rows = {row["kind"]: row for row in json.loads((root / "benchmarks/finetuning.json").read_text())["rows"]}
    assert [rows[kind]["examples_per_second"] for kind in ("sequence", "tokens")] == [3396, 2484]
    base = shape_of(BASE, 30_522)
    for kind, row in rows.items():
        work = row["examples_per_second"] * operations(base, row["tokens"], 0, row["tokens"], whole=True)
        assert gpus.share_of_finetuning(kind) == pytest.approx(work / 989e12, rel=0.02)
    kinds = ("sequence", "span", "mentions", "tokens")
    assert [round(gpus.share_of_finetuning(kind), 3) for kind in kinds] == [0.099, 0.099, 0.039, 0.039]
    run = SimpleNamespace(dataset="chemprot@blurb")
    assert targets.stage(Finetune).share(run, gpus) == gpus.share_of_finetuning("sequence")
    said = gpus.share_source("finetuning")
    assert said.startswith("9.9% (sequence) and 3.9% (tokens) of the peak, measured on NVIDIA H100")


def with_model(specs: Specs, like: str, name: str, **changes: object) -> Specs:
    """The specs with one model more."""
    return specs.model_copy(
        update={"models": specs.models | {name: specs.models[like].model_copy(update=changes)}}
    )


def test_jobs_are_added_up_and_what_is_there_costs_nothing(targets: Graph) -> None:
    jobs = [
        Job("finetune", RUN, True), Job("finetune", RUN | {"model": "bert-base-cased"}, False),
        Job("trial", RUN | {"trial": "batch_size=16+epochs=20+learning_rate=5e-05"}, True),
        Job("score", RUN, True), Job("pretrain", {"recipe": "pubmedbert-base", "step": "12500"}, True),
        Job("pretrain", {"recipe": "pubmedbert-base", "step": "25000"}, True),
        Job("download", {"path": "ftp.ncbi.nlm.nih.gov/pubmed/baseline/pubmed26n0001.xml.gz"}, True),
        Job("download", {"path": "example.org/other.zip"}, True),
    ]  # fmt: skip
    plan = make_plan(jobs, targets, GPUS)
    assert plan.to_do == {"finetune": 1, "trial": 1, "score": 1, "pretrain": 2, "download": 2}
    assert plan.there == {"finetune": 1}
    assert plan.runs_there == ["blurb/bert-base-cased/bc2gm/standard"]
    assert (plan.seconds("score"), plan.seconds("download")) == (ASSUMED.seconds, 2 * ASSUMED.seconds)
    assert plan.seconds("pretrain") is None, "its hours are those of GPUs"
    assert (plan.files_unknown, plan.bytes_known, plan.bytes_assumed) == (1, 0, 39e6)
    recipe = targets.specs.pretraining["pubmedbert-base"].recipe
    pretraining = plan.pretraining["pubmedbert-base"]
    assert pretraining.operations == pytest.approx(25_000 * operations_of_step(recipe, 30_522), rel=0.1)
    assert pretraining.at_peak == pretraining.operations / 0.5
    assert plan.finetuning["blurb, runs"].jobs == 1
    runs, trials = (plan.finetuning[f"blurb, {name}"].operations for name in ("runs", "trials"))
    assert trials == pytest.approx(runs * (20 + 3 * 60) / 60 * 3 / 5)  # four points, 3 seeds of 5


def test_the_plan_has_the_seconds_of_finished_jobs(tmp_path: Path, full_specs: Specs) -> None:
    graph = study_graph(full_specs, results=str(tmp_path))
    for rule, name, seconds in (("parse", "a/b", 5), ("parse", "a/c", 10), ("pretrain", "a/b", 3600)):
        path = Path(graph.paths.benchmark(rule, name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{seconds}\t-\n", encoding="utf-8")
    jobs = [
        Job("parse", {"source": "pubmed", "block": "pubmed26n0001+49"}, True),
        Job("pretrain", {"recipe": "pubmedbert-base", "step": "12500"}, True),
    ]
    plan, said = make_plan(jobs, graph, GPUS), io.StringIO()
    assert plan.seconds("parse") == 7.5
    print_plan(Console(file=said, width=400), plan, graph, replace(GPUS, core=1e12))
    without = plan.pretraining["pubmedbert-base"].operations / 1e12 / 3600
    assert f"; without a GPU {without:,.0f} more\n" in said.getvalue()
    folder = f"{tmp_path}/full/benchmarks"
    assert f"measured: mean of 2 jobs in {folder}/parse" in said.getvalue()
    assert f"seconds of pretrain: measured: mean of 1 jobs in {folder}/pretrain" in said.getvalue()
    assert re.search(r"pretrain +1 +0 +3,600", said.getvalue())


def test_the_plan_shows_what_released_weights_save(full_specs: Specs) -> None:
    """Of BioM-BERT, a column of the table needs 400,000 steps; the other 290,000 are saved."""
    found = study_graph(full_specs, tables=("alrowili2021/table02",))
    plan = make_plan([], found, GPUS)
    saved = {one.name: one for one in plan.saved}
    assert saved.keys() == {
        "bio-lm-large", "biom-albert-xxlarge", "biom-albert-xxlarge@pmc", "biom-bert-large",
        "biom-electra-base", "biom-electra-large", "pubmedbert-base", "pubmedbert-base@pmc-100k",
    }  # fmt: skip
    rest = operations_of_pretraining(found, "biom-bert-large", 400_000, 690_000)
    assert saved["biom-bert-large"].operations == rest
    said = io.StringIO()
    print_plan(Console(file=said, width=160), plan, found, GPUS)
    assert "Saved by released weights" in said.getvalue()


def test_what_the_benchmark_measured_takes_the_place_of_what_is_assumed(root: Path, tmp_path: Path) -> None:
    """A benchmark of an unknown GPU measures nothing."""
    assumed = read_gpus(root / "specs", tmp_path / "none")
    assert assumed.share_of_finetuning("tokens") == assumed.shares["finetuning"]
    assert assumed.share(BASE, 512) == assumed.shares["pretraining"] == 0.4
    assert assumed.peaks["V100"] == 125e12
    rows = [{"name": "BERT-base", "length": 512, "operations_per_second": 0.6 * 989e12}]
    for device, share, source in (
        ("NVIDIA H200", 0.6, "measured on NVIDIA H200"), ("RTX 3090", 0.4, "assumed: 40% of the peak"),
    ):  # fmt: skip
        (tmp_path / "pretraining.json").write_text(json.dumps({"device": device, "rows": rows}))
        found = read_gpus(root / "specs", tmp_path)
        assert found.share(BASE, 512) == pytest.approx(share) and found.share(BASE, 128) == 0.4
        assert source in found.share_source("pretraining")
    (tmp_path / "gpus.yaml").write_text("gpus: {}\ngpus: {}\n")
    with pytest.raises(PubmillError, match=r"specs/gpus\.yaml:2"):
        read_gpus(tmp_path, tmp_path / "none")


def test_a_recipe_has_the_measured_share_of_the_most_similar_model(targets: Graph, root: Path) -> None:
    """An objective without the fastest methods is slower."""
    measured = read_gpus(root / "specs", root / "benchmarks")
    others = [replace(BASE, family=family) for family in ("electra", "modernbert")]
    shares = [measured.share(one, 300) for one in (BASE, LARGE, *others)]
    assert len({*shares, measured.share(BASE, 128)}) == 5
    fast, slow = (
        costs.share_of_pretraining(targets, measured, name) for name in ("bio-lm-base", "bio-lm-base@distill")
    )
    assert slow == pytest.approx(measured.plain * fast) and 0.4 < measured.plain < 0.8
    assert GPUS.plain == 1 and GPUS.hours(3.6e15, 0.5) == {"A": 2.0, "B": 1.0}


def space(graph: Graph, *rules: str, **wildcards: str) -> tuple[float, float]:
    """Return the bytes that jobs download, assumed, and those that they leave on disk."""
    plan = make_plan([Job(rule, wildcards, True) for rule in rules], graph, GPUS)
    return plan.bytes_assumed, plan.disk


def test_models_checkpoints_and_runs_that_are_kept_need_space(targets: Graph, demo_specs: Specs) -> None:
    """Released weights are downloaded too; those made here, and a mirror's, are not."""
    size = costs.bytes_of_model(targets, "pubmedbert-base")
    assert size == 4 * parameters(shape_of(architecture_of(targets, "pubmedbert-base"), 30_522))
    demo = study_graph(demo_specs, "demo")
    assert space(targets, "export_model", model="pubmedbert-base") == (size, size)
    at_demo = (0, costs.bytes_of_model(demo, "pubmedbert-base"))
    assert space(demo, "export_model", model="pubmedbert-base") == at_demo
    run = {"protocol": "shin2020", "model": "pubmedbert-base", "dataset": "squad-v1", "setting": "standard"}
    assert space(targets, "finetune", **run) == (0, size), "the model that another run starts from"
    weights = costs.parameters_of_recipe(targets, "pubmedbert-base")
    assert space(targets, "pretrain", recipe="pubmedbert-base", step="12500") == (0, 12 * weights)
    block = {"source": "pmc", "block": "PMC00000xxxx+49"}
    assert space(targets, "fetch_pmc", "parse", **block) == (50 * 150e6, 50 * 300e6)
    assert make_plan([Job("parse", block, True)], targets, GPUS).seconds("parse") == 50 * 4.6
    files = space(targets, "fetch_files", source="pubmed", block="pubmed26n0001+49")
    assert files == (50 * costs.PUBMED_FILE, 50 * costs.PUBMED_FILE)
    assert space(targets, "download", path="example.org/other.zip") == (0, 0)
    corpus = targets.specs.pretraining["pubmedbert-base"].corpus
    _, packed = space(targets, "pack", corpus=corpus, vocab="pubmed-uncased")
    assert packed == costs.PACKED * len(targets.corpora.shards(corpus)) > 0
    archive = targets.specs.models["bio-lm-large"].released
    assert isinstance(archive, ArchiveWeights)
    plan = make_plan([Job("download", {"path": archive.url.removeprefix("https://")}, True)], targets, GPUS)
    assert plan.bytes_assumed == pytest.approx(4 * 335e6, rel=0.05) and plan.files_unknown == 0


def test_a_file_of_the_mirror_has_its_own_size(root: Path, targets: Graph, tmp_path: Path) -> None:
    (tmp_path / "example.org").mkdir()
    (tmp_path / "example.org/other.zip").write_bytes(b"12345")
    study = targets.study.model_copy(update={"mirror": str(tmp_path)})
    jobs = [Job("download", {"path": f"example.org/{name}"}, True) for name in ("other.zip", "none.zip")]
    plan = make_plan(jobs, Graph(study, targets.specs), GPUS)
    assert (plan.bytes_known, plan.bytes_assumed, plan.files_unknown, plan.disk) == (5, 0, 1, 5)


def test_finished_jobs_cost_nothing_and_only_trainings_among_them_are_listed(targets: Graph) -> None:
    plan = make_plan([Job("score", {}, False), Job("strange", {}, True)], targets, GPUS)
    assert (plan.there, plan.to_do, plan.runs_there, plan.disk) == ({"score": 1}, {"strange": 1}, [], 0)
    assert plan.each == {"strange": ASSUMED}


def test_a_dataset_without_a_number_of_examples_makes_jobs_of_unknown_size(targets: Graph) -> None:
    data = targets.specs.datasets["bc2gm"].model_copy(update={"expect": {}})
    specs = targets.specs.model_copy(update={"datasets": {**targets.specs.datasets, "bc2gm": data}})
    graph = Graph(targets.study, specs)
    assert operations_of(graph) is None
    training = make_plan([Job("finetune", RUN, True)] * 2, graph, GPUS).finetuning["blurb, runs"]
    assert (training.jobs, training.unknown, training.operations, training.at_peak) == (2, 2, 0, 0)


@pytest.mark.parametrize(("counts", "number"), [
    ({"examples": 5, "sentences": 7}, 5), ({"questions": 2, "sentences": 7}, 7), ({"questions": 2}, 2),
    ({"tokens": 9}, None),
])  # fmt: skip
def test_examples_are_counted_or_else_sentences_or_questions(
    targets: Graph, counts: dict[str, int], number: int | None
) -> None:
    spec = targets.specs.datasets["bc2gm"].model_copy(update={"expect": {"train": counts}})
    assert costs.examples_of(spec) == number


def test_a_continued_pretraining_costs_its_own_steps_only(targets: Graph) -> None:
    """albert-xxlarge@pmc starts at step 264,000 of another recipe."""
    name = "biom-albert-xxlarge@pmc"
    spec = targets.specs.pretraining[name]
    assert costs.first_step(targets, name) == 264_000 and costs.first_step(targets, "pubmedbert-base") == 0
    first = targets.pretrainings.steps(name)[0]
    step = operations_of_step(spec.recipe, costs.pieces_of(targets.specs, spec.vocab))
    assert costs.operations_of_segment(targets, name, first) == pytest.approx((first - 264_000) * step)
    [found] = [one for one in recipes_at_full(targets, GPUS) if one.name == name]
    assert found.operations == pytest.approx((spec.recipe.steps - 264_000) * step)
    assert (found.jobs, found.unknown) == (len(spec.checkpoints), 0) and found.at_peak == 2 * found.operations


def test_a_distillation_runs_its_teacher_too(targets: Graph) -> None:
    spec = targets.specs.pretraining["bio-lm-base@distill"]
    pieces = costs.pieces_of(targets.specs, spec.vocab)
    alone, taught = (operations_of_step(spec.recipe, pieces, teacher) for teacher in (None, LARGE))
    assert operations_of_pretraining(targets, "bio-lm-base@distill", 0, 1) == pytest.approx(taught) != alone


def test_a_setting_that_takes_the_choice_of_another_has_its_epochs(targets: Graph) -> None:
    """IO tags are trained with what was chosen for BIO tags, of at most 60 epochs."""
    assert operations_of(targets) == operations_of(targets, setting="tagging=io") is not None


def test_inputs_are_no_longer_than_the_recipe_lets_them_be(targets: Graph) -> None:
    """Words of a sentence are assumed to be 40 subwords."""
    short_, long = (operations_of(with_length(targets, limit, "blurb")) for limit in (20, 512))
    assert short_ and long and 0.45 < short_ / long < 0.5


@pytest.mark.parametrize("text", ["", "s\th:m:s\tmax_rss\n", "s\th:m:s\nsoon\n", "x\ty\n1\t2\n"])
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    path = Path(Paths(str(tmp_path)).benchmark("parse", str(tmp_path / "parse/pubmed/one")))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PubmillError, match=r"one\.tsv: expected Snakemake's table of a benchmark"):
        measured_seconds(Paths(str(tmp_path)))("parse")


def test_trials_are_counted_by_model(full_specs: Specs) -> None:
    own, plain = study_graph(full_specs, own_tables="mine"), study_graph(full_specs)
    names = ("bert-base-uncased", "biobert-base", "biobert-base")
    there, *jobs = [
        Job("trial", {"model": name}, name != "scibert-cased") for name in ("scibert-cased", *names)
    ]
    others = [there, Job("finetune", {"model": "scibert-cased"}, True)]
    choices = [Job("choose", {"dataset": "bc2gm"}, True), Job("choose", {"dataset": "jnlpba"}, False)]
    line, *advice = search_lines([*jobs, *others, *choices], own)
    assert line == "4 of 5 jobs: trials with BioBERT and BERT, uncased"
    assert tuple(advice) == ADVICE
    chosen = study_graph(full_specs, own_tables="mine", search="own")
    for graph in (chosen, plain):
        assert search_lines(jobs[1:2], graph) == ["1 of 1 job: trials with BioBERT"]
    assert search_lines([Job("table", {}, True), there], plain) == []


WITH_MEMORY = Gpus({}, {}, memory={"old": 16e9, "new": 40e9}, weights={"old": "float32", "new": "bfloat16"})
LONGEST = LongestBatch("p", 8_192, 16, 12, 768, 110_000_000)


def with_length(graph: Graph, length: int | None, name: str = "sounack2025") -> Graph:
    protocol = graph.specs.protocols[name]
    values = {**protocol.hyperparameters, "max_length": length}
    changed = protocol.model_copy(update={"hyperparameters": values})
    protocols = {**graph.specs.protocols, name: changed}
    return Graph(graph.study, graph.specs.model_copy(update={"protocols": protocols}))


def test_activations_fill_half_of_the_memory() -> None:
    """20 GB / (52 x 768 x 12 bytes) are 41,733 tokens, 5 inputs; 8 GB / (104 x 768 x 12) 8,346 tokens, 1."""
    short = LONGEST._replace(length=128)
    for batches, parts in (([LONGEST], [16, 4]), ([LONGEST, short], [16, 4]), ([short], None)):
        assert divided(batches, WITH_MEMORY) == ([(LONGEST, parts)] if parts else [])


def test_a_model_whose_single_input_needs_more_than_a_gpu_has_is_too_large() -> None:
    """104 x 4,096 x 12 bytes x 8,192 tokens are 42 GB; in bfloat16 21 GB, beside 20 bytes for each weight."""
    wide = LONGEST._replace(hidden=4_096, parameters=223_000_000)
    assert divided([wide], WITH_MEMORY) == [(wide, [None, 16])]
    assert divided([wide._replace(parameters=2_000_000_000)], WITH_MEMORY)[0][1] == [None, None]


@pytest.mark.parametrize(("length", "model", "expected"), [
    (None, "pubmedbert-base", 512), (8_192, "pubmedbert-base", 512), (128, "pubmedbert-base", 128),
    (None, "bioclinical-modernbert-base", 8_192), (8_192, "modernbert-base", 8_192),
    (None, "modernbert-base", None),
])  # fmt: skip
def test_the_length_is_the_recipes_or_the_models(
    full_graph: Graph, length: int | None, model: str, expected: int | None
) -> None:
    run = RunKey("sounack2025", model, "hoc@blurb", "standard")
    found = longest_batch(with_length(full_graph, length), run)
    assert (found.length, found.inputs) == (expected, 16)
    assert divided([found._replace(length=None)], WITH_MEMORY) == []


def test_weights_that_are_here_say_their_sizes(full_graph: Graph, tmp_path: Path) -> None:
    graph = with_length(full_graph, None)
    graph.paths = paths_of_scale("full", str(tmp_path))
    path = Path(graph.paths.model("modernbert-base", "config.json"))
    path.parent.mkdir(parents=True)
    sizes: dict[str, Any] = {"num_hidden_layers": 22, "hidden_size": 768, "max_position_embeddings": 8_192}
    path.write_text(json.dumps(sizes), encoding="utf-8")
    found = longest_batch(graph, RunKey("sounack2025", "modernbert-base", "hoc@blurb", "standard"))
    assert (found.layers, found.hidden, found.length) == (22, 768, 8_192)


def test_the_gpus_of_the_project_have_a_memory(root: Path, tmp_path: Path) -> None:
    gpus = read_gpus(root / "specs", tmp_path / "none")
    assert gpus.memory["V100"] == 16e9 and gpus.weights["V100"] == "float32"
    assert gpus.memory.keys() == gpus.peaks.keys() and gpus.weights["H100"] == "bfloat16"
