"""Protocols: how a run's recipe is combined, and that each mistake is reported with its line."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pubmill.recipes import FinetuningRecipe, build
from pubmill.specs import ProtocolSpec, Specs
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from tests.unit.toy_studies import loaded as specs_of

SCALES = ("demo", "full")
PAPERS = ("blurb", "tinn2021", "lewis2020", "shin2020", "alrowili2021")


@pytest.fixture(scope="module")
def loaded(root: Path) -> dict[str, Specs]:
    return {scale: specs_of(root / "specs", scale) for scale in SCALES}


def recipe(made: Specs, protocol: str, dataset: str, setting: str, model: str = "any", **chosen: Any) -> Any:
    """The recipe of a run, as a program would read it."""
    values = made.protocols[protocol].recipe(made.datasets[dataset], model, setting, trial=False)
    return build(FinetuningRecipe, values | chosen, protocol)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PAPERS)
def test_every_run_that_can_be_asked_for_makes_a_recipe(
    loaded: dict[str, Specs], scale: str, name: str
) -> None:
    """Asked of each dataset, setting and model alone, and not, as the loader does, of one for many."""
    made, spec = loaded[scale], loaded[scale].protocols[name]
    models = ["any", *{model for one in spec.overrides.values() for model in one.models or ()}]
    seen: set[str] = set()
    for data in made.datasets.values():
        for setting in spec.settings:
            for model in models:
                if spec.obstacle(data, model, setting) is not None:
                    continue
                choosing = spec.settings[setting].chosen_by or setting
                for point in spec.points(data, model, choosing).values() or [{}]:
                    values = spec.recipe(data, model, setting, trial=False) | point
                    if str(values) not in seen:
                        build(FinetuningRecipe, values, f"{name}, {data.name}, {setting}, {model}")
                    seen.add(str(values))
    assert len(seen) > 3


EQUIVALENCE = {"alpha": 0.05, "power": 0.8, "margins": {"default": {"points": 1, "why": "printed so"}}}


def protocol(**changes: Any) -> ProtocolSpec:
    values: dict[str, Any] = {
        "name": "p", "hyperparameters": {}, "search": None, "settings": {"standard": {}},
        "equivalence": EQUIVALENCE, "final": {"seeds": {"default": 1}, "aggregate": "mean", "split": "test"},
    }  # fmt: skip
    return ProtocolSpec.model_validate(values | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": 0}, {"alpha": 0.6}, {"power": 1}, {"margins": {}}, {"seeds": 5},
        {"margins": {"biosses": {"points": 1, "why": "small"}}},
        {"margins": {"default": {"points": 0, "why": "none"}}},
        {"margins": {"default": {"points": 1}}},
        {"margins": {"default": {"points": 1, "why": ""}}},
    ],
)  # fmt: skip
def test_a_rule_of_equivalence_that_is_not_whole_is_refused(changes: dict[str, Any]) -> None:
    assert protocol().equivalence.margins["default"].points == 1
    with pytest.raises(ValidationError, match="equivalence"):
        protocol(equivalence=EQUIVALENCE | changes)


def test_values_are_laid_over_each_other_in_order(full_specs: Specs) -> None:
    data = full_specs.datasets["bc2gm"]
    spec = protocol(
        search={"grid": {"batch_size": [8]}, "models": "each"},
        hyperparameters={"learning_rate": 1, "epochs": 1, "warmup": 0.1, "dropout": 0.1},
        overrides={
            "first": {"tasks": ["ner"], "values": {"epochs": 2, "warmup": 0.2}},
            "second": {"datasets": ["bc2gm"], "models": ["m"], "values": {"epochs": 3}},
            "other": {"kinds": ["span"], "values": {"epochs": 4}},
        },
        settings={"standard": {"values": {"dropout": 0.3}}},
    )
    made = spec.recipe(data, "m", "standard", trial=False)
    assert (made["epochs"], made["warmup"], made["dropout"], made["task"]) == (3, 0.2, 0.3, "tokens")
    assert spec.recipe(data, "n", "standard", trial=False)["epochs"] == 2
    assert list(spec.points(data, "m", "standard")) == ["batch_size=8"]


def test_a_grid_of_an_override_needs_a_search() -> None:
    grid = {"overrides": {"few": {"tasks": ["ner"], "grid": {"epochs": [1, 2]}}}}
    with pytest.raises(ValidationError, match="few has a grid, but there is no search; give it values and"):
        protocol(**grid)
    made = protocol(**grid, search={"grid": {}, "models": ["m"]})
    assert made.overrides["few"].grid == {"epochs": (1, 2)}


@pytest.mark.parametrize(
    ("run", "values"),
    [
        ("blurb gad@blurb standard", {"max_length": 128, "epochs": "not said"}),
        ("blurb chemprot@blurb standard", {"max_length": 256, "keep": "last"}),
        ("blurb chemprot@blurb best-epoch", {"keep": "best", "epochs": "not said"}),
        ("blurb pubmedqa standard", {"max_length": 512, "segments": "separate"}),
        ("blurb bc2gm tagging=io", {"tagging": "io", "head": "linear"}),
        ("blurb ddi@blurb entities=markers+pooling=entity-start", {"pooling": "entity-start"}),
        ("tinn2021 biosses standard-epochs", {"epochs": 5, "bias_correction": True}),
        ("tinn2021 biosses no-bias-correction", {"epochs": 100, "bias_correction": False}),
        ("tinn2021 biosses optimal+train+dev", {"reinitialised_layers": "not said", "train_on": "train+dev"}),
        ("tinn2021 pubmedqa optimal pubmedbert-base", {"segments": "single"}),
        ("tinn2021 pubmedqa optimal pubmedelectra-base", {"segments": "separate"}),
        ("blurb bc2gm removed=4", {"removed_layers": 4, "keep": "last"}),
        ("blurb pubmedqa single-segment", {"segments": "single", "keep": "last"}),
        ("lewis2020 bc2gm standard",
         {"learning_rate": 1e-5, "batch_size": 32, "evaluate_every": 500, "metric": "seqeval_0_0_12_f1"}),
        ("lewis2020 jnlpba@biobert standard", {"metric": "seqeval_0_0_12_f1"}),
        ("lewis2020 i2b2-2014 standard", {"metric": "entity_f1"}),
        ("blurb bc2gm standard", {"metric": "entity_f1"}),
        ("lewis2020 ddi@blue printed", {"learning_rate": 0.002, "evaluate_every": 200}),
        ("lewis2020 ddi@blue standard", {"learning_rate": 2e-5, "batch_size": 16, "epochs": 10}),
        ("lewis2020 hoc@blue standard", {"unit": "sentence"}),
        ("shin2020 bc5-chem fc=2x512", {"head_sizes": [512], "labelled_subwords": "separate"}),
        ("shin2020 bc5-disease standard", {"labelled_subwords": "separate"}),
        ("shin2020 ncbi-disease fc=1",
         {"head_sizes": [], "labelled_subwords": "all", "keep": "last", "weight_decay": 0.0}),
        ("shin2020 chemprot@blue fc=2x1024",
         {"head_sizes": [1024], "weight_decay": 0.01, "batch_size": 64, "warmup": 0.1}),
        ("shin2020 squad-v1 standard", {"epochs": 10, "learning_rate": 3e-5, "keep": "last"}),
        ("shin2020 bioasq-factoid@7b standard", {"epochs": 30, "head_sizes": [2048], "warmup": 0.0}),
        ("alrowili2021 bc5-chem standard biom-electra-base",
         {"learning_rate": 2e-4, "batch_size": 48, "layerwise_decay": 0.8, "max_length": 256,
          "adam_epsilon": 1e-6, "head_dropout": 0.0}),
        ("alrowili2021 ncbi-disease standard biom-albert-xxlarge",
         {"layerwise_decay": "not said", "bias_correction": True, "weight_decay": 0.0, "dropout": 0.0,
          "adam_epsilon": 1e-8, "warmup": 0.0}),
        ("alrowili2021 chemprot@blurb standard biom-bert-large",
         {"layerwise_decay": 0.9, "bias_correction": False, "weight_decay": 0.01}),
        ("shin2020 ddi@blue oversampled", {"oversample": True}),
        ("alrowili2021 chemprot@blurb standard albert-xxlarge",
         {"batch_size": 128, "epochs": 5, "dropout": 0.0}),
        ("alrowili2021 squad-v2 standard albert-xxlarge",
         {"batch_size": 128, "epochs": 2, "learning_rate": 3e-5, "max_length": 384, "head_dropout": 0.0}),
        ("alrowili2021 squad-v2 standard electra-base",
         {"learning_rate": 1e-4, "epochs": 3, "max_length": 512, "layerwise_decay": 0.8}),
        ("alrowili2021 chemprot@blurb standard bio-lm-large",
         {"batch_size": 16, "max_length": 512, "warmup": 0.0, "keep": "best", "evaluate_every": 200,
          "adam_epsilon": 1e-8, "bias_correction": True, "weight_decay": 0.0}),
        ("alrowili2021 squad-v2 standard pubmedbert-base",
         {"epochs": 2, "learning_rate": 5e-5, "max_length": 512}),
        ("alrowili2021 bioasq-factoid@7b standard pubmedbert-base", {"batch_size": 128, "epochs": 3}),
    ],
)  # fmt: skip
def test_recipes_are_those_of_the_papers(full_specs: Specs, run: str, values: dict[str, Any]) -> None:
    """A run: protocol, dataset, setting and perhaps the model."""
    name, dataset, setting, *models = run.split()
    data, [model] = full_specs.datasets[dataset], models or ["any"]
    made = full_specs.protocols[name].recipe(data, model, setting, trial=False)
    assert {key: made.get(key, "not said") for key in values} == values


@pytest.mark.parametrize(
    ("run", "grid"),
    [
        ("blurb bc2gm standard", {"epochs": (2, 6, 20, 60)}),
        ("blurb bc2gm best-epoch", {"epochs": (60,)}),
        ("tinn2021 pubmedqa layer-freeze", {"frozen_layers": (3, 6, 9)}),
        ("tinn2021 pubmedqa layer-freeze pubmedbert-large", {"frozen_layers": (6, 12, 18)}),
        ("tinn2021 pubmedqa optimal pubmedbert-base", {"frozen_layers": (None,)}),
        ("tinn2021 pubmedqa optimal pubmedelectra-base",
         {"frozen_layers": (None,), "layerwise_decay": (0.8, 0.9, 1.0)}),
        ("tinn2021 biosses optimal+train+dev", {"reinitialised_layers": (0, 1)}),
        ("tinn2021 bioasq-yesno optimal", {"frozen_layers": (None, 3, 6, 9)}),
        ("shin2020 bc2gm standard", {"head_sizes": ([], [512], [1024])}),
        ("shin2020 squad-v1 standard", {}),
        ("lewis2020 bc2gm standard", {}),
    ],
)  # fmt: skip
def test_what_a_setting_searches(full_specs: Specs, run: str, grid: dict[str, Any]) -> None:
    name, dataset, setting, *models = run.split()
    data, [model] = full_specs.datasets[dataset], models or ["any"]
    made = full_specs.protocols[name].grid(data, model, setting)
    common = {"learning_rate", "batch_size"} if name in ("blurb", "tinn2021") else set()
    assert {key: values for key, values in made.items() if key not in common} == grid


def test_trials_never_learn_dev(full_specs: Specs) -> None:
    spec, data = full_specs.protocols["tinn2021"], full_specs.datasets["biosses"]
    assert spec.recipe(data, "m", "train+dev", trial=False)["train_on"] == "train+dev"
    assert spec.recipe(data, "m", "train+dev", trial=True)["train_on"] == "train"


@pytest.mark.parametrize(("protocol", "dataset", "setting", "message"), [
    ("blurb", "bc2gm", "nothing", "has no setting 'nothing'; it has standard, "),
    ("blurb", "gad@blurb", "tagging=io", "setting tagging=io of protocol blurb is not for relation"),
    ("blurb", "squad-v2", "standard", "squad-v2 has no split to search by"),
    ("lewis2020", "gad@fold-1", "standard", "chooses on gad@fold-1 and reports gad@fold-2, "),
    ("lewis2020", "biosses", "standard", "is not for similarity"),
    ("tinn2021", "bc2gm", "optimal", "is not for ner (tokens: bc2gm), but for similarity, yes-no"),
    ("tinn2021", "hoc@blurb", "optimal+train+dev", "but for similarity"),
])  # fmt: skip
def test_impossible_runs_are_reported(
    full_specs: Specs, protocol: str, dataset: str, setting: str, message: str
) -> None:
    assert message in str(
        full_specs.protocols[protocol].obstacle(full_specs.datasets[dataset], "any", setting)
    )


def test_without_dev_the_last_weights_are_kept(full_specs: Specs) -> None:
    spec = full_specs.protocols["shin2020"]
    assert spec.obstacle(full_specs.datasets["gad@fold-1"], "any", "fc=1") is None
    best = spec.model_copy(update={"hyperparameters": spec.hyperparameters | {"keep": "best"}})
    message = "gad@fold-1 has no split to choose the best weights by"
    assert message in str(best.obstacle(full_specs.datasets["gad@fold-1"], "any", "fc=1"))


def test_the_scored_split_never_chooses(full_specs: Specs) -> None:
    """Except on the one fold of ten that isn't reported."""
    for spec in full_specs.protocols.values():
        for data in full_specs.datasets.values():
            assert spec.looked_at(data, trial=False) != spec.scored(data)
            if spec.looked_at(data, trial=True) == spec.scored(data):
                assert data.name in {folds.chosen_on for folds in spec.folds.values()}


def test_on_a_reported_fold_nothing_is_looked_at(full_specs: Specs) -> None:
    spec = full_specs.protocols["lewis2020"]
    final = recipe(full_specs, "lewis2020", "gad@fold-4", "standard", stop_after=200)
    assert (final.keep, final.evaluate_every, final.stop_after) == ("last", None, 200)
    trial = spec.recipe(full_specs.datasets["gad@fold-1"], "m", "standard", trial=True)
    assert (trial["keep"], trial["evaluate_every"]) == ("best", 200)
    assert spec.looked_at(full_specs.datasets["gad@fold-1"], trial=True) == "test"
    assert spec.looked_at(full_specs.datasets["gad@fold-4"], trial=False) is None


def test_a_fold_that_cannot_be_had_leaves_the_row_empty(full_specs: Specs, tmp_path: Path) -> None:
    config = {"study": "x", "title": "x", "scale": "full", "tables": ["lewis2020/table02"]}
    study = Study.model_validate(config | {"mirror": str(tmp_path), "results": str(tmp_path)})
    made = checked_graph(study, full_specs)
    assert "gad@fold-2 the mirror lacks https://" in made.tables.recipe("lewis2020/table02").missing["gad"]
    assert any(line.startswith("left out of the tables: gad@fold-1 ") for line in made.left_out())
