"""Fine-tuning through the Snakefile: every kind of task, each protocol, other systems, and failed runs."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.metrics import metrics_of
from pubmill.storage.checksums import folder_sha256
from pubmill.storage.files import read_jsonl_gz
from pubmill.workflow.preparation import FAILED_CELLS
from tests.chat_stub import ChatStub, serving
from tests.workflow.conftest import TABLE, Project, copy_of

pytestmark = pytest.mark.long

SQUAD = "shin2020/no-pretraining/squad-v1/standard"
FACTOID = "shin2020/no-pretraining/bioasq-factoid@7b/standard"
FOLD = "lewis2020/no-pretraining/gad@fold-2/standard"
CHOSEN = "lewis2020/no-pretraining/gad@fold-1/standard"
SUPPLIED = "off-the-shelf/llm/bc5-chem/as-it-is"
LLM = """name: llm
label: Some LLM
lowercase: false
tables: [gu2020/table06]
weights:
  kind: predictions
  local: llm
  system: {name: developer/llm, version: "1", prompt: Which words name chemicals?}
  mapping: {bc5-chem: {chemical: ""}}
"""
PROMPTED = """name: prompted
label: Prompted
lowercase: false
tables: [gu2020/table06]
weights:
  kind: prompted
  server: SERVER
  model: tiny
  datasets: [bc5-chem]
  prompt: theirs
  shots: 1
  seeds: [1, 2]
  structured: true
  price: {prompt: 1, answer: 2.5, currency: EUR}
  budget: {requests: 1000, tokens: 1000000}
  engine: {name: stub, version: "1", quantisation: none}
  system: {name: developer/tiny, version: "1", prompt: that of pubmill, local: true}
"""
PUBLISHED = "Chemicals, please.\n\nSentence: <<>>\nOutput:"
THEIRS = f"""name: theirs
label: Their prompts
citation: nobody's
templates:
  bc5-chem:
    url: https://example.org/%5BNER%5D/prompt.txt
    sha256: {hashlib.sha256(PUBLISHED.encode()).hexdigest()}
    place: <<>>
    input: "{{words}}"
"""
ASKED = "off-the-shelf/prompted/bc5-chem/as-it-is"
EPOCHS = {"blurb": 12, "tinn2021": 12, "lewis2020": 24}
"""Epochs after which the small models of these tests no longer predict the same for every example."""
FAILED = "blurb/no-pretraining/bc5-chem/standard"
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "blurb/no-pretraining/bc5-chem/head=bilstm": (
        "tokens", {"head": "bilstm", "head_sizes": [32], "tagging": "bio", "learning_rate": 2e-3},
    ),
    "blurb/no-pretraining/chemprot@blurb/standard": (
        "sequence",
        {
            "entities": "dummies", "pooling": "cls", "metric": "micro_f1", "epochs": EPOCHS["blurb"],
            "keep": "last",
        },
    ),
    "tinn2021/no-pretraining/biosses/optimal": (
        "regression", {"reinitialised_layers": 1, "frozen_layers": None, "segments": "separate"},
    ),
    FOLD: ("sequence", {"keep": "last", "evaluate_every": None, "entities": "dummies"}),
    "lewis2020/no-pretraining/hoc@blue/standard": (
        "multilabel", {"unit": "sentence", "metric": "example_f1", "evaluate_every": 10},
    ),
    SQUAD: ("span", {"keep": "last", "head": "mlp", "head_sizes": [64], "head_dropout": 0.1}),
    FACTOID: ("span", {"keep": "last", "head": "mlp", "head_sizes": [64], "stride": 32}),
}  # fmt: skip
"""Runs -> the kind of their examples, and values that their recipes must have."""


def final(run: str, ending: str = ".json") -> str:
    return f"results/demo/runs/{run}/final/seed-1{ending}"


def records(run: str) -> str:
    """The target that makes a run."""
    return final(run).replace("seed-1.json", "records.json")


SUPPLIED_RECORDS, ASKED_RECORDS = (
    [f"results/demo/runs/{run}/final/seed-{seed}.json" for seed in (1, 2)] for run in (SUPPLIED, ASKED)
)


@pytest.fixture(scope="module")
def targets() -> list[str]:
    return [*map(records, [*RUNS, SUPPLIED, ASKED]), TABLE]


@pytest.fixture(scope="module")
def made(
    finished: Project, targets: list[str], world: Path, tmp_path_factory: pytest.TempPathFactory
) -> Project:
    """A finished project with these runs, and one run whose training must end in NaN."""
    folder = tmp_path_factory.mktemp("finetuned") / "project"
    project = copy_of(finished, folder)
    train_for_longer(project)
    failing = "models: [no-pretraining], datasets: [bc5-chem], settings: [standard]"
    add_override(project, "failing", f"{failing}, values: {{weight_decay: 1e+38}}")
    project.edit("config.yaml", "local_files: {}", f"local_files: {{llm: {folder}/llm}}")
    supply_predictions(folder)
    publish_prompt(project, world)
    with serving(ChatStub(first_word, faults=[429, "cut"])) as stub:
        (folder / "specs/models/prompted.yaml").write_text(PROMPTED.replace("SERVER", stub.url))
        project.run("--", *targets, check=False)
        # Runs requested by path, which the study does not ask for, enter the table now.
        done = project.run("--logger", "pubmill", "--", TABLE, check=False)
    test = folder / "results/demo/datasets/bc5-chem/test.jsonl.gz"
    assert all(PUBLISHED.partition("<<>>")[0] in said[-1]["content"] for said in stub.messages)
    assert sum(stub.asked.values()) == 2 * len([*read_examples(test, TokensExample)]) + 2, "and two faults"
    said = done.stdout + done.stderr
    assert done.returncode == FAILED_CELLS, said
    assert re.search(r"failed: gu2020/table06, .*: no mean: 0 of 2 seeds \(failed, nan: seed 1, 2\)", said), (
        said
    )
    return project


def publish_prompt(project: Project, world: Path) -> None:
    """Add the spec of a prompt that others published, and a mirror that has it beside the miniature data."""
    mirror = project.folder.with_name("mirror")
    (mirror / "example.org/[NER]").mkdir(parents=True)
    (mirror / "example.org/[NER]/prompt.txt").write_text(PUBLISHED)
    for host in world.iterdir():
        (mirror / host.name).symlink_to(host)
    (project.folder / "specs/prompts/theirs.yaml").write_text(THEIRS)
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {mirror}")


def train_for_longer(project: Project) -> None:
    """Set more epochs for the runs of this file."""
    path = project.folder / "specs/scales/demo.yaml"
    parts = re.split(r"(?m)^(?=  \w+:$)", path.read_text())
    for number, part in enumerate(parts):
        name = part.partition(":")[0].strip()
        if name in EPOCHS and name != "blurb":
            parts[number] = re.sub(r"\bepochs: 1\b", f"epochs: {EPOCHS[name]}", part)
        if name == "tinn2021":
            parts[number] = parts[number].replace("learning_rate: [2e-3]", "learning_rate: [1e-2]")
    path.write_text("".join(parts))
    grid = f"grid: {{epochs: [{EPOCHS['blurb']}]}}"
    add_override(project, "longer", f"datasets: [bc5-chem, chemprot@blurb], {grid}")


def add_override(project: Project, name: str, content: str) -> None:
    there = "    settings:\n      head=bilstm"
    project.edit("specs/scales/demo.yaml", there, f"      {name}: {{{content}}}\n{there}")


def supply_predictions(folder: Path) -> None:
    """Write a model of supplied predictions with two runs in different forms: the gold, and the gold with a
    sentence without mentions, with the type that the spec maps."""
    (folder / "specs/models/llm.yaml").write_text(LLM)
    test = [*read_examples(folder / "results/demo/datasets/bc5-chem/test.jsonl.gz", TokensExample)]
    for seed in (1, 2):
        (folder / f"llm/seed-{seed}").mkdir(parents=True)
    first = next(one for one in test if "B" in one.labels)
    rows = [
        {
            "id": one.id,
            "labels": ["O"] * len(one.words)
            if one is first
            else [label if label == "O" else f"{label}-chemical" for label in one.labels],
        }
        for one in test
    ]
    (folder / "llm/seed-1/bc5-chem.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ("".join(f"{w} {la}\n" for w, la in zip(one.words, one.labels, strict=True)) for one in test)
    (folder / "llm/seed-2/bc5-chem.conll").write_text("\n".join(columns))


def first_word(prompt: str) -> str:
    return prompt.partition("Sentence: ")[2].split()[0]


def read(project: Project, path: str) -> Any:
    return json.loads((project.folder / path).read_text())


@pytest.mark.parametrize("run", RUNS)
def test_a_run_is_what_its_protocol_and_setting_say(made: Project, run: str) -> None:
    kind, expected = RUNS[run]
    record = read(made, final(run))
    assert "/".join(record[name] for name in ("protocol", "model", "dataset", "setting")) == run
    assert record["recipe"]["task"] == kind
    assert {name: record["recipe"][name] for name in expected} == expected
    # Defined for two labels only, and where examples have layers.
    undefined = {"layers_macro_f1"} if run == FOLD else {"positive_f1", "layers_macro_f1"}
    names = {metric.name for metric in metrics_of(kind) if not metric.needs}
    assert record["failed"] is None and record["metric"] in names
    assert names - undefined <= record["metrics"].keys()


def test_a_fold_is_trained_for_as_many_steps_as_were_best_on_another(made: Project) -> None:
    trials = [
        read(made, f"results/demo/runs/{CHOSEN}/trials/default/seed-{seed}.training.json") for seed in (1, 2)
    ]
    selected = read(made, f"results/demo/runs/{CHOSEN}/selected.json")
    steps = round(sum(trial["dev"]["best_step"] for trial in trials) / 2)
    assert selected["chosen"] == {"stop_after": steps}
    training = read(made, final(FOLD, ".training.json"))
    assert training["recipe"]["stop_after"] == training["steps"] == steps
    assert training["dev_split"] is None and set(training["data_sha256"]) == {"train", "test"}
    assert not (made.folder / f"results/demo/runs/{CHOSEN}/final").exists()


def test_a_chained_run_begins_with_the_model_of_the_other(made: Project) -> None:
    squad, factoid = (read(made, final(run)) for run in (SQUAD, FACTOID))
    assert factoid["model_sha256"] == folder_sha256(made.folder / f"results/demo/runs/{SQUAD}/models/seed-1")
    assert squad["model_sha256"] == folder_sha256(made.folder / "results/demo/models/no-pretraining")
    assert (factoid["model"], factoid["split"]) == ("no-pretraining", "test")


def test_a_kept_model_is_trained_once(made: Project) -> None:
    """By the job of its run, which no table shows, so that it has one seed."""
    kept = f"results/demo/runs/{SQUAD}/models/seed-1"
    report = read(made, final(SQUAD, ".training.json"))
    report.pop("predictions_sha256"), report.pop("content_sha256")
    assert read(made, f"{kept}/training.json").items() >= report.items()
    [seed] = read(made, records(SQUAD).replace("records", "runs"))["seeds"]
    assert seed["model"] == {"folder": "../models/seed-1", "sha256": folder_sha256(made.folder / kept)}


def test_supplied_predictions_are_scored_and_shown_in_a_marked_column(made: Project) -> None:
    scores = [read(made, path)["metrics"]["entity_f1"] for path in SUPPLIED_RECORDS]
    assert scores[0] < scores[1] == 1.0
    record = read(made, SUPPLIED_RECORDS[0])
    assert (record["dev_score"], record["model_sha256"], record["seconds"]) == (None, None, 0.0)
    assert record["recipe"]["system"]["name"] == "developer/llm" and "finetune" not in record["versions"]
    table = read(made, TABLE.replace(".html", ".json"))
    assert table["cells"]["llm"]["bc5-chem"]["value"] == pytest.approx(50 * sum(scores))
    [label] = [column["label"] for column in table["columns"] if column["key"] == "llm"]
    page = (made.folder / TABLE).read_text()
    assert label == "Some LLM (not fine-tuned here)" and label in page
    assert "they are by developer/llm, version 1 (prompt: Which words name chemicals?)" in page


def test_a_language_model_is_asked_and_shown_in_a_marked_column(made: Project) -> None:
    records = [read(made, path) for path in ASKED_RECORDS]
    assert [record["failed"] for record in records] == [None, None]
    asked = read(made, "results/demo/answers/prompted/seed-1/bc5-chem.asked.json")
    answers = (made.folder / "results/demo/answers/prompted/seed-1/bc5-chem.jsonl").read_text()
    assert asked["answers"] == len(answers.splitlines()) and asked["asking"]["shots"] == 1
    assert asked["price"].endswith(" EUR") and asked["asking"]["structured"]
    assert not list((made.folder / "results/demo/answers/prompted").rglob("*.partial"))
    scores = [record["metrics"]["entity_f1"] for record in records]
    cell = read(made, TABLE.replace(".html", ".json"))["cells"]["prompted"]["bc5-chem"]
    assert cell["value"] == pytest.approx(50 * sum(scores))
    page = (made.folder / TABLE).read_text()
    assert "It is developer/tiny, version 1 (prompt: that of pubmill), asked with 1 worked examples" in page
    assert "on stub 1, quantisation none, at 1 and 2.5 EUR for a million" in page
    [first, _] = cell["seeds"]
    assert first["asked"]["prompt_tokens"] == asked["prompt_tokens"] and first["asked"]["currency"] == "EUR"
    shown = (made.folder / TABLE.replace(".html", ".md")).read_text()
    [costs] = [line for line in shown.splitlines() if line.startswith("| Cost of all runs |")]
    assert " EUR, 2 runs; answers: 0 not read, 0 cut off |" in costs and re.search(
        r"\| \d+ s, \d+ runs \|", costs
    ), "tokens beside times"
    sent = made.folder / "results/demo/answers/prompted/seed-1/bc5-chem.requests.jsonl.gz"
    assert len([*read_jsonl_gz(sent)]) == asked["answers"]


def test_a_run_that_ends_in_nan_has_no_score_and_its_cell_no_mean(made: Project) -> None:
    record = read(made, final(FAILED))
    assert (record["failed"], record["metrics"], record["counts"]) == ("nan", None, None)
    cells = read(made, TABLE.replace(".html", ".json"))["cells"]["no-pretraining"]
    assert cells["bc5-chem"]["value"] is None
    assert cells["bc5-chem"]["missing"] == "no mean: 0 of 2 seeds (failed, nan: seed 1, 2)"
    assert cells["bc5-chem"]["missing"] in (made.folder / TABLE).read_text()


@pytest.mark.parametrize(
    ("file", "old", "new", "jobs"),
    [
        ("scales/demo", "head_sizes: [32]", "head_sizes: [16]", {"finetune": 1, "score": 1}),
        ("protocols/shin2020", "{epochs: 10}", "{epochs: 9, warmup: 0.2}", {"finetune": 2, "score": 2}),
        ("scales/demo", "search: {seeds: 2}", "search: {seeds: 3}",
         {"trial": 1, "choose_for_model": 1, "finetune": 1, "score": 1}),
    ],
    ids=["its own runs alone", "the second of a chain", "the folds of a choice"],
)  # fmt: skip
def test_an_edit_reruns(
    made: Project, targets: list[str], file: str, old: str, new: str, jobs: dict[str, int]
) -> None:
    path = made.folder / f"specs/{file}.yaml"
    text = path.read_text()
    made.edit(f"specs/{file}.yaml", old, new)
    try:
        assert made.planned("--", *([records(FOLD)] if "trial" in jobs else targets)) == jobs
    finally:
        path.write_text(text)


def test_finished_runs_need_nothing_and_what_a_protocol_cannot_do_is_reported(
    made: Project, targets: list[str]
) -> None:
    assert made.planned("--", *targets) == {}
    for run, words in (
        (CHOSEN, "chooses on gad@fold-1 and reports gad@fold-2"),
        ("blurb/no-pretraining/bc5-chem/standrad", "has no setting 'standrad'"),
    ):
        done = made.run("-n", records(run), check=False)
        said = done.stdout + done.stderr
        assert done.returncode != 0 and "Traceback" not in said, said
        assert re.search(re.escape(words), said), said
