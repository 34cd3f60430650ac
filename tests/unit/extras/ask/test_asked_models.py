"""Language models that are asked: what a study allows, and what of a spec decides an answer."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.ask.ask_recipes import PublishedText
from pubmill.extras.ask.ask_stages import Ask
from pubmill.specs import ModelSpec, Specs
from pubmill.specs.model_specs import PublishedPrompt
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.stages.availability import NOT_LOCAL
from pubmill.stages.supplied_predictions import TakePredictions
from tests.unit.toy_studies import GraphOf

SERVER = "https://llm.example.org/v1"
LICENCE = {"server": SERVER, "statement": "agreement 17"}


def asked(full_specs: Specs, graph_of: GraphOf, study: dict[str, Any], **weights: Any) -> Graph:
    spec = {
        "name": "some-llm", "label": "Some LLM", "lowercase": False, "tables": ["gu2020/table06"],
        "weights": {
            "kind": "prompted", "server": SERVER, "model": "m", "datasets": ["mednli", "bc2gm"],
            "system": {"name": "a/m", "version": "1", "prompt": "p"}, **weights,
        },
    }  # fmt: skip
    models = {**full_specs.models, "some-llm": ModelSpec.model_validate(spec)}
    return graph_of(full_specs.model_copy(update={"models": models}), **study)


def job_on(dataset: str, submission: str = "some-llm") -> SimpleNamespace:
    return SimpleNamespace(asked="some-llm", submission=submission, dataset=dataset, seed="1")


def options_for(dataset: str, *arguments: Any) -> list[str]:
    return Ask(asked(*arguments)).options(job_on(dataset))


def test_credentialed_text_goes_to_a_server_of_others_only_with_a_licence(
    full_specs: Specs, graph_of: GraphOf
) -> None:
    def obstacle(dataset: str, **study: Any) -> str | None:
        return asked(full_specs, graph_of, study).availability.predictions("some-llm", dataset)

    assert (obstacle("mednli"), obstacle("bc2gm")) == (NOT_LOCAL, None)
    assert "--licence" not in options_for("mednli", full_specs, graph_of, {})
    other = {"mednli": LICENCE | {"server": "https://other.example.org/v1"}}
    assert obstacle("mednli", server_licences=other) == NOT_LOCAL
    study = {"server_licences": {"mednli": LICENCE}}
    assert obstacle("mednli", **study) is None
    assert options_for("mednli", full_specs, graph_of, study) == ["--licence", "agreement 17"]
    said = asked(full_specs, graph_of, study).supplied.statement("some-llm")
    assert said.endswith("Text of mednli is sent to its server: agreement 17.")


def test_a_licence_for_an_unknown_dataset_is_an_error(root: Path) -> None:
    study = {"study": "x", "title": "x", "scale": "demo", "tables": []}
    with pytest.raises(PubmillError, match=r"server_licences: .*mednlo"):
        check_study({**study, "server_licences": {"mednlo": LICENCE}}, root / "specs")


def test_price_and_budget_decide_no_answer_and_the_engine_does(full_specs: Specs, graph_of: GraphOf) -> None:
    price, engine = {"prompt": 1, "answer": 2, "currency": "EUR"}, {"name": "vllm", "version": "1"}
    plain = asked(full_specs, graph_of, {})
    terms = asked(full_specs, graph_of, {}, price=price, budget={"tokens": 100})
    stated = asked(full_specs, graph_of, {}, engine={**engine, "quantisation": "awq"})
    jobs = [Ask(graph).recipe_of(job_on("bc2gm")) for graph in (plain, terms, stated)]
    assert jobs[0] == jobs[1] != jobs[2]
    options = Ask(terms).options(job_on("bc2gm"))
    assert options[::2] == ["--price", "--budget"] and '"tokens":100' in options[3].replace(" ", "")
    with pytest.raises(ValueError, match="unknown key|Unexpected keyword|unexpected"):
        asked(full_specs, graph_of, {}, budget={"token": 1})


def test_a_published_prompt_is_an_input_of_asking(full_specs: Specs, graph_of: GraphOf) -> None:
    plain, theirs = asked(full_specs, graph_of, {}), asked(full_specs, graph_of, {}, prompt="chen2025")
    published = full_specs.prompts["chen2025"].templates["hoc@blurb"]
    assert isinstance(published, PublishedPrompt)

    file, job = theirs.paths.source_of_url(published.url), job_on("hoc@blurb")
    ask, own = Ask(theirs), Ask(plain)
    assert ask.inputs_of(job)["prompt"] == file and ask.prompt_option(job) == ["--prompt", file]
    recipe = ask.recipe_of(job)
    assert recipe.published == PublishedText(place=published.place, sha256=published.sha256)
    assert recipe.prompt == published.input
    assert own.prompt_option(job) == [] and own.recipe_of(job).published is None


def test_predictions_of_an_asked_model_are_made_of_its_answers(full_specs: Specs, graph_of: GraphOf) -> None:
    stage = TakePredictions(asked(full_specs, graph_of, {}))
    own, other = job_on("bc2gm"), job_on("bc2gm", "no-pretraining")
    assert stage.inputs_of(own)["answers"] == [stage.graph.paths.answers("some-llm", "bc2gm", "1")]
    assert stage.parts_of(own) == ("asked",)
    assert stage.inputs_of(other).keys() == {"dataset"} and stage.parts_of(other) == ()
