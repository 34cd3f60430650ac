"""Answers of the checklist, row by row, from evidence that is made up."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pubmill.extras.checklist import data_answers as data
from pubmill.extras.checklist import model_answers as models
from pubmill.extras.checklist.checklist_evidence import BASES, ChecklistAnswer, StudyData, value_text
from pubmill.extras.checklist.checklist_recipes import (
    ChecklistRecipe,
    DatasetSummary,
    ModelSummary,
    SearchSummary,
)
from pubmill.metrics.records import Record
from pubmill.recipes import build
from pubmill.recipes.writing import as_values
from pubmill.report.report_content import PretrainingSummary
from pubmill.tables.dataset_cards import Card
from pubmill.tables.recorded_runs import record_frame
from tests.unit import toy_tables
from tests.unit.report import toy_cards

SPACE, NO_BREAK = "\N{NARROW NO-BREAK SPACE}", "\N{NO-BREAK SPACE}"
DATASET: dict[str, Any] = {
    "label": "BC2GM", "task": "ner", "kind": "tokens", "domain": "biomedical", "metric": "entity_f1",
    "access": "public", "apply": None, "licence": "CC BY 4.0", "citation": "a paper", "links": ["https://a/b"],
    "made_up": False,
}  # fmt: skip
LINKS = ("https://a", "https://b", "https://c")
CHOICE = "runs/blurb/selected/bc2gm/standard.json"
OWN_CHOICE = "runs/blurb/ours/bc2gm/standard/selected.json"


def model(label: str = "", citation: str = "", **weights: Any) -> ModelSummary:
    if weights["kind"] == "hub":
        weights = {"id": "lab/bert", "revision": "f00"} | weights
    values = {"label": label, "citation": citation, "notes": [], "lowercase": True, "weights": weights}
    return build(ModelSummary, values, "model")


def study(
    recipe: dict[str, Any] | None = None, *, records: Iterable[Record] = (), **changes: Any
) -> StudyData:
    """A study of nothing, with changes."""
    empty: dict[str, Any] = {
        name: {} for name in ("pretraining", "runs", "protocols", "models", "datasets", "versions")
    }
    lists = dict.fromkeys(("tables", "corpora", "vocabs", "searches"), ())
    heading = {"study": "s", "title": "T", "scale": "demo", "scale_title": "a demo", "comparable": True}
    values = as_values({**empty, **lists, **heading, **(recipe or {})})
    made = build(ChecklistRecipe, values, "study")
    parts: dict[str, Any] = {
        "tables": {}, "records": record_frame((f"run {i}", record) for i, record in enumerate(records)),
        "choices": {}, "pretrainings": [], "corpora": {}, "vocabs": {}, "cards": {}, "parameters": {},
    }  # fmt: skip
    return StudyData(recipe=made, **parts | changes)


def rows(answer: ChecklistAnswer) -> list[tuple[str, ...]]:
    assert answer.grid is not None
    assert all(len(row) == len(answer.grid.headings) for row in answer.grid.rows)
    return list(answer.grid.rows)


def card(name: str = "bc2gm", kind: str = "tokens", **changes: Any) -> dict[str, Card]:
    return {name: Card.model_validate(toy_cards.card(name, kind, **changes))}


def run(seed: int = 1, score: float = 0.8, **changes: Any) -> Record:
    changes = {"model": "bert", "dataset": "bc2gm"} | changes
    return toy_tables.record(seed=seed, score=score, **changes)


FAILED: dict[str, Any] = {"metrics": None, "counts": None, "dev_score": None, "failed": "nan"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"), (False, "no"), (None, "none"), (2e-5, "2e-05"), (16, "16"), ((), "none"),
        ([1, 2.5, "x"], "1, 2.5, x"), ({"max_length": 128, "crf": False}, "max length 128; crf no"),
    ],
)  # fmt: skip
def test_values_of_recipes_are_words(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_sizes_are_counts_that_the_dataset_has_in_the_order_of_splits() -> None:
    found = card("bc2gm", expect={"train": {"sentences": 3, "mentions": 2}, "test": {"sentences": 4}})
    counts = "3 sentences; 2 mentions; 30 tokens; 5 tokens in mentions; 0 illegal starts"
    assert rows(data.sizes(study(cards=found))) == [
        ("bc2gm", "train", counts, "as expected"),
        ("bc2gm", "test", counts, "not as expected"),
    ]
    assert rows(data.sizes(study(cards=card(expect={}))))[0][-1] == "nothing expected"
    missing = card(expect={"train": {"documents": 0}})  # not annotated, so as good as none
    assert rows(data.sizes(study(cards=missing)))[0][-1] == "as expected"
    assert data.sizes(study()) == ChecklistAnswer("measured", ("No dataset is used.",), None)


def test_labels_have_their_shares_and_data_without_labels_no_row() -> None:
    found = card("chemprot", "sequence") | card("biosses", "regression")
    assert rows(data.labels(study(cards=found))) == [
        ("chemprot", split, "CPR:3 20.0 %, false 80.0 %") for split in ("train", "test")
    ]


def test_links_name_the_first_file_and_how_many_more() -> None:
    datasets = {
        "one": DatasetSummary(**DATASET),
        "two": DatasetSummary(**DATASET | {"links": LINKS[:2]}),
        "three": DatasetSummary(
            **DATASET | {"links": ("https://a", "https://b", "https://c"), "made_up": True}
        ),
        "own": DatasetSummary(**DATASET | {"links": (), "access": "credentialed", "apply": "https://apply"}),
    }
    answer = data.links(study({"datasets": datasets}))
    assert rows(answer) == [
        ("one", "public", "https://a/b"),
        ("own", "only for people who were granted access; apply at https://apply", "files of the user's own"),
        ("three", "public", "https://a and 2 more; its page has all"),
        ("two", "public", "https://a and 1 more; its page has all"),
    ]
    assert answer.text == ("At this scale the files are not the published ones: three.",)
    assert data.links(study({"datasets": {"one": DATASET}})).text == ()


def test_what_was_left_out_and_shortened_is_added_up() -> None:
    runs = [run(1, encoded={"cut_inputs": 2, "lost_answers": 0}), run(2, encoded={"cut_inputs": 1})]
    answer = data.exclusions(study(cards=card(), records=runs))
    assert rows(answer) == [("bc2gm", split, "no sentence: 7") for split in ("train", "test")]
    assert answer.text[1].endswith("in all runs together: cut inputs: 3.")
    nothing = data.exclusions(study(cards=card(counts={"test": {"left_out.no_sentence": 0}})))
    assert nothing.grid is None and nothing.text[1].endswith("nothing had to be shortened or left out.")


def test_overlaps_without_a_shared_input_or_document_have_no_row() -> None:
    pairs = [
        {"split": "dev", "with": "train", "texts": 0, "documents": 2},
        {"split": "test", "with": "train", "texts": 3, "documents": None},
        {"split": "test", "with": "dev", "texts": 0, "documents": 0},
    ]
    answer = data.overlaps(study(cards=card(overlaps=pairs)))
    assert rows(answer) == [("bc2gm", "dev, train", "0", "2"), ("bc2gm", "test, train", "3", "not marked")]
    assert answer.text == ()
    assert data.overlaps(study(cards=card(overlaps=[]))).text[0].startswith("No input or document")


def test_pretraining_has_corpora_vocabularies_and_lengths() -> None:
    summary = PretrainingSummary("base", 1000, 2_000_000, 90.0, ("EPYC",), {"loss": 5.12345}, None)
    corpora = {
        "abstracts": {"documents": 7, "parsed": 1000, "words": 900, "rejected": {"too_short": 3, "late": 1}}
    }
    made = study(
        pretrainings=[summary],
        corpora=corpora | {"all": {"documents": 1, "parsed": 1, "words": 2, "rejected": {}}},
        vocabs={"uncased": {"size": 30522, "documents": 7}},
    )
    assert rows(data.pretraining(made)) == [
        ("corpus abstracts", f"7 documents of 1{SPACE}000 read, 900 words; rejected: late 1, too short 3"),
        ("corpus all", "1 documents of 1 read, 2 words; rejected: none"),
        ("vocabulary uncased", f"30{SPACE}522 pieces, learnt from 7 documents"),
        ("recipe base", f"1{SPACE}000 steps, 2{NO_BREAK}M tokens, last logged loss 5.123"),
    ]
    assert data.pretraining(study()).basis == "not applicable"


def test_terms_and_citations_of_every_artefact() -> None:
    made = study(
        {
            "datasets": {
                "bc2gm": DATASET,
                "i2b2": DATASET | {"domain": "clinical", "access": "registration", "citation": ""},
            },
            "models": {
                "ours": model(kind="random", recipe="r"),
                "bert": model(kind="hub", id="a/b", revision="1"),
            },
        }
    )
    assert rows(data.citations(made)) == [
        ("dataset bc2gm", "a paper"), ("dataset i2b2", "none given in its spec"),
        ("model bert", "none given in its spec"), ("model ours", "none given in its spec"),
    ]  # fmt: skip
    licences = {row[0]: row[1] for row in rows(data.licences(made))}
    assert licences["dataset bc2gm"] == "CC BY 4.0" and licences["model ours"].startswith("made here")
    assert licences["model bert"].startswith("not recorded")
    assert data.people(made).text[0] == "Datasets of clinical text: i2b2. Not public: i2b2."


def test_weights_are_described_by_their_origin() -> None:
    weights = {
        "a": model(kind="hub", id="lab/bert", revision="f00"),
        "b": model("B", "b 2020", kind="pretraining", recipe="r", step=4),
        "c": model(kind="random", recipe="r"),
        "d": model(kind="spacy", local="key", types={}), "e": model(kind="folder", local="key"),
    }  # fmt: skip
    assert rows(models.description(study({"models": weights}))) == [
        ("a", "released: lab/bert at f00", "none given"),
        ("B", "pretrained here: recipe r, step 4", "b 2020"),
        ("c", "freshly initialised: the architecture of r", "none given"),
        ("d", "a spaCy pipeline of the user's own (key)", "none given"),
        ("e", "a folder of the user's own (key)", "none given"),
    ]


def test_machines_time_and_code_are_counted_over_runs() -> None:
    gpus = {"gpus": ["H100", "H100", "A100"]}
    summary = PretrainingSummary("base", 4, 4000, 60.0, ("EPYC", "other"), {"loss": 5.0}, None)
    runs = [run(1), run(2, seconds=20.0), run(3, model="x", hardware=gpus, commit=None, seconds=3700.0)]
    made = study({"models": {"bert": model("BERT", kind="hub")}}, records=runs, pretrainings=[summary])
    assert rows(models.machines(made)) == [
        ("a processor, 2 cores", "2 runs"), ("2 x H100, 1 x A100", "1 runs"),
        ("EPYC", "pretraining base"), ("other", "pretraining base"),
    ]  # fmt: skip
    assert rows(models.runtime(made)) == [
        ("fine-tuning BERT", "2", "15 s", "30 s"), ("fine-tuning x", "1", "1 h 1 min", "1 h 1 min"),
        ("pretraining base", "1", "1 min 0 s", "1 min 0 s"),
    ]  # fmt: skip
    assert models.code(made).text[1] == f"Commits of the runs: {'c' * 40}, none recorded."
    assert len(models.code(study()).text) == 1
    assert models.machines(study()).text == ("Nothing was run.",) and not models.machines(made).text


def test_parameters_are_counted_or_said_to_be_unknown() -> None:
    made = study(
        {"models": {"bert": model("BERT", kind="hub")}}, parameters={"bert": 110_000_000, "x": None, "y": 0}
    )
    assert rows(models.parameters(made)) == [
        ("BERT", f"110{SPACE}000{SPACE}000"), ("x", models.NO_WEIGHTS), ("y", "0"),
    ]  # fmt: skip


def test_validation_is_a_mean_over_the_runs_that_did_not_fail() -> None:
    runs = [
        run(1, 0.8),
        run(2, 0.9, dev_score=0.7),
        run(3, 0.0, **FAILED),
        run(1, 0.5, dataset="gad", dev_score=None),
    ]
    pipeline = run(1, 0.5, protocol="off-the-shelf")
    answer = models.validation(study(records=[*runs, pipeline]))
    assert rows(answer) == [
        ("bert", "bc2gm", "blurb, standard", "entity F1", "75.00", "85.00", "2 of 3"),
        ("bert", "gad", "blurb, standard", "entity F1", "none", "50.00", "1 of 1"),
    ]
    assert models.validation(study(records=[pipeline])).text == ("Nothing was fine-tuned.",)


def test_limits_count_empty_cells_and_failed_runs(tmp_path: Path) -> None:
    toy_tables.write_all(tmp_path)
    tables = {"gu2020/table06": toy_tables.table(tmp_path)}
    protocol = {
        "citation": "c", "notes": ["ours"], "hyperparameters": {"epochs": 2},
        "aggregate": "mean", "split": "test",
        "overrides": {"long": {"epochs": 3, "why": "section 5"}, "short": {"epochs": 1}},
    }  # fmt: skip
    recipe = {"protocols": {"blurb": protocol}, "comparable": False}
    made = study(recipe, tables=tables, records=[run(1), run(2, **FAILED)])
    assert models.limits(made).text == (
        "Scale demo: a demo.",
        "gu2020/table06: 4 of 6 cells have no score; the table gives the reasons.",
        "1 of 2 runs failed; their cells show it.",
        "Protocol blurb: ours",
    )
    assert len(models.limits(study()).text) == 1
    assert [row[0] for row in rows(models.metrics(made))] == ["entity F1"]
    assert rows(models.statistics(made)) == [("gu2020/table06", "mean", "2", "2 of 2")]
    assert rows(models.fixed(made)) == [
        ("blurb", "all runs", "epochs 2"), ("blurb", "long (section 5)", "epochs 3"),
        ("blurb", "short", "epochs 1"),
    ]  # fmt: skip
    assert not models.fixed(study()).text


def test_searches_have_grids_trials_and_choices() -> None:
    grid = {"learning_rate": (1e-5, 5e-5), "batch_size": (16,)}
    searches = [
        SearchSummary(protocol="blurb", grid=grid, models=("bert", "ours"), seeds=2, selected=(CHOICE,)),
        SearchSummary(protocol="x", grid={"epochs": (1,)}, models="each", seeds=1, selected=(OWN_CHOICE,)),
    ]
    choices = {
        CHOICE: {
            "chosen": {"batch_size": 16},
            "mean_dev": 0.625,
            "considered": [{"trials": 3}, {"trials": 2}],
        },
        OWN_CHOICE: {"chosen": None, "mean_dev": None, "considered": [{"trials": 1}]},
    }
    runs = [run(1, recipe={"keep": "best"}), run(2, **FAILED), run(1, protocol="off-the-shelf")]
    made = study({"searches": searches}, choices=choices, records=runs)
    assert rows(models.bounds(made)) == [
        ("blurb", "batch size", "16", "bert, ours, 2 seeds"),
        ("blurb", "learning rate", "1e-05, 5e-05", "bert, ours, 2 seeds"),
        ("x", "epochs", "1", "each model, 1 seed"),
    ]
    assert rows(models.chosen(made)) == [
        ("blurb, bc2gm, standard, all models", "batch size 16", "62.50"),
        ("blurb, bc2gm, standard, ours", "none: all trials failed", "none"),
    ]
    assert models.runs(made).text == (
        "2 final runs, each scored once on test; 1 of them failed.",
        "6 trials of searches, each scored on validation alone.",
        "0 pretrainings.",
        "1 runs of finished pipelines, which are not trained.",
    )
    assert (
        "A run keeps the weights of the epoch" in models.method(made).text[-1]
        and len(models.method(made).text) == 4
    )


def test_without_searches_every_value_is_the_protocols() -> None:
    made = study(records=[run(1, recipe={"keep": "last"})])
    assert models.bounds(made).text == models.chosen(made).text == (models.NOTHING,)
    assert models.chosen(made).basis == "specified" and models.chosen(made).grid is None
    assert models.method(made).text == (models.NOTHING, "A run's weights are those of its last step.")
    assert len(models.runs(made).text) == 3


def test_a_basis_is_explained_in_words() -> None:
    assert all(ChecklistAnswer(basis).basis_text == words for basis, words in BASES.items())  # type: ignore[arg-type]
