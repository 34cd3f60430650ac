"""A language model is asked for the test examples of a converted dataset."""

from dataclasses import replace
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.prompts import wording_of
from pubmill.extras.submissions.asked_answers import Budget, ask_all, read_answers
from pubmill.extras.submissions.asked_records import AskedRecord, record_of
from pubmill.extras.submissions.chat_server import ChatServer
from pubmill.extras.submissions.json_answers import schema_of
from pubmill.extras.submissions.scores import examples_of
from pubmill.extras.submissions.submission import recipe_of
from pubmill.extras.submissions.worked_examples import requests_for
from pubmill.recipes.submissions import AskRecipe, Price
from pubmill.storage.privacy import CREDENTIALED


def ask_dataset(
    recipe: AskRecipe,
    dataset: Path,
    server: ChatServer,
    store: Path,
    at_once: int,
    budget: Budget,
    price: Price | None = None,
) -> tuple[AskedRecord, int]:
    """Ask what the file `store` has no answer to; return the record of its answers, and how many examples
    remain unasked because the budget was spent.

    Raises a `PubmillError` for a credentialed dataset and a server that may be of somebody else.
    """
    reading = recipe_of(dataset, None, dummies=recipe.dummies)
    if reading.access == CREDENTIALED and server.is_hosted:
        raise PubmillError(
            f"{reading.dataset} is a credentialed dataset: its text must not be sent to {server.url}, which "
            "may be a service of others (physionet's rule). Run the model on a machine of your own"
        )
    wording = wording_of(recipe, reading.labels, recipe.prompt)
    train = examples_of(dataset, replace(reading, split="train")) if recipe.asking.shots else []
    schema = schema_of(reading.kind, reading.labels)
    requests = requests_for(examples_of(dataset, reading), train, wording, recipe.asking, schema)
    left = ask_all(requests, server, store, at_once, budget)
    answers = read_answers(store, requests)
    return record_of(reading, server, recipe.asking, wording, answers, price), left
