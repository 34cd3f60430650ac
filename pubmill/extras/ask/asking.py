"""Prompt a language model with the test examples of a converted dataset, and record its answers with the
settings, the server's statements about itself, and the numbers of tokens and of cut answers."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

from pubmill.errors import PubmillError
from pubmill.examples.prompts import published_template, wording_of
from pubmill.extras.ask.ask_recipes import AskRecipe
from pubmill.extras.ask.asked_answers import ask_all, read_answers, write_requests
from pubmill.extras.ask.chat_requests import requests_for, schema_of
from pubmill.extras.ask.chat_server import ChatServer, Fact
from pubmill.predictions.free_answers import counts_of
from pubmill.predictions.scores import examples_of
from pubmill.predictions.submission import recipe_of
from pubmill.recipes.submissions import Budget, Price, System
from pubmill.storage.privacy import CREDENTIALED


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Server and limits for prompting a model, which are not part of the recipe. `at_once`: number of
    concurrent requests; `licence`: why a third party's server may get text of a credentialed dataset."""

    server: ChatServer
    at_once: int
    budget: Budget = field(default_factory=Budget)
    price: Price | None = None
    licence: str | None = None


@dataclass(frozen=True, kw_only=True)
class AskedRecord:
    """The record of a model's answers for a dataset.

    - `server`: host and port; `hosted`: whether the server may belong to a third party.
    - `template`: the prompt; `words`: the texts for its places other than the input.
    - `served`: facts that a private server states about its engine, at the last call.
    - `at_once`, `licence`: those of the `Terms`.
    - `models`, `fingerprints`: model name and system fingerprint in the answers -> number of answers.
    - `prompt_tokens`, `answer_tokens`: as the server counts them.
    - `cut`: number of answers that were cut off at the limit of their length.
    - `price`: cost of all these tokens at the stated price, with its currency.
    - `probability`: probability that the model gives its own answer, as the mean over the answers for which
      the server returns it.
    """

    dataset: str
    split: str
    server: str
    hosted: bool
    asking: dict[str, Any]
    template: str
    words: dict[str, str]
    answers: int
    prompt_tokens: int
    answer_tokens: int
    cut: int
    models: dict[str, int]
    fingerprints: dict[str, int]
    at_once: int
    served: dict[str, Fact]
    licence: str | None = None
    price: str | None = None
    probability: float | None = None


def with_whole_prompt(recipe: AskRecipe, file: Path | None) -> AskRecipe:
    """Return a recipe with its whole prompt; a published one is `file` with `recipe.prompt` inserted."""
    if recipe.published is None:
        return recipe
    if file is None:
        raise PubmillError("the prompt is a published one, and its file is not given (--prompt)")
    prompt = published_template(file, recipe.published.place, recipe.prompt)
    return replace(recipe, prompt=prompt, published=None)


def ask_dataset(
    recipe: AskRecipe, dataset: Path, terms: Terms, store: Path, requests_file: Path
) -> tuple[AskedRecord, int]:
    """Request the answers that the file `store` lacks; return the record of all its answers, and how many
    examples have none because the budget is spent. `requests_file` (.jsonl.gz) gets all requests.

    Raises a `PubmillError` for a credentialed dataset and a server that may be of somebody else, unless the
    terms name a licence.
    """
    reading = recipe_of(dataset, dummies=recipe.dummies)
    server = terms.server
    if reading.access == CREDENTIALED and server.is_hosted and not terms.licence:
        raise PubmillError(
            f"{reading.dataset} is a credentialed dataset: its text must not be sent to {server.url}, which "
            "may be a service of others (physionet's rule). Run the model on a machine of your own. If the "
            "dataset's licence allows this service, a study can say so: `server_licences`"
        )
    wording = wording_of(recipe, reading.labels, recipe.prompt)
    train = examples_of(dataset, replace(reading, split="train")) if recipe.asking.shots else []
    schema = schema_of(reading.kind, reading.labels)
    requests = requests_for(examples_of(dataset, reading), train, wording, recipe.asking, schema)
    write_requests(requests_file, requests)
    served = server.facts()
    left = ask_all(requests, server, store, terms.at_once, terms.budget)
    bodies = [row["response"]["body"] for row in read_answers(store, requests).values()]
    read, written, cut = counts_of(bodies).values()
    probabilities = [one for body in bodies if (one := probability_of(body)) is not None]
    record = AskedRecord(
        dataset=reading.dataset,
        split=reading.split,
        server=urlsplit(server.url).netloc.rpartition("@")[2],
        hosted=server.is_hosted,
        asking=asdict(recipe.asking),
        template=wording.template,
        words=wording.words,
        answers=len(bodies),
        prompt_tokens=read,
        answer_tokens=written,
        cut=cut,
        models=_counted(bodies, "model"),
        fingerprints=_counted(bodies, "system_fingerprint"),
        at_once=terms.at_once,
        served=served,
        licence=terms.licence,
        price=terms.price.in_words(read, written) if terms.price else None,
        probability=fmean(probabilities) if probabilities else None,
    )
    return record, left


def probability_of(body: Mapping[str, Any]) -> float | None:
    """Return the probability of an answer, the product of those of its tokens; None if there are none."""
    content = (body["choices"][0].get("logprobs") or {}).get("content")
    if not isinstance(content, list) or not content:
        return None
    return math.exp(sum(one["logprob"] for one in content))


def _counted(bodies: list[dict[str, Any]], key: str) -> dict[str, int]:
    return dict(sorted(Counter(str(body[key]) for body in bodies if body.get(key)).items()))


def system_of(record: AskedRecord) -> System:
    """Return the statement about the system, as submissions have it."""
    version = ", ".join([*record.models, *record.fingerprints]) or "not stated by the server"
    return System(
        name=record.asking["model"], version=version, prompt=record.template, local=not record.hosted
    )
