"""A language model is asked for the test examples of a converted dataset."""

from dataclasses import replace
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.prompts import wording_of
from pubmill.extras.submissions.asked_answers import ask_all, read_answers, write_requests
from pubmill.extras.submissions.asked_records import AskedRecord, Terms, record_of
from pubmill.extras.submissions.json_answers import schema_of
from pubmill.extras.submissions.scores import examples_of
from pubmill.extras.submissions.submission import recipe_of
from pubmill.extras.submissions.worked_examples import requests_for
from pubmill.recipes.submissions import AskRecipe
from pubmill.storage.privacy import CREDENTIALED


def ask_dataset(
    recipe: AskRecipe, dataset: Path, terms: Terms, store: Path, requests_file: Path
) -> tuple[AskedRecord, int]:
    """Ask what the file `store` has no answer to; return the record of its answers, and how many examples
    remain unasked because the budget is spent. The requests are written to `requests_file`, .jsonl.gz.

    Raises a `PubmillError` for a credentialed dataset and a server that may be of somebody else, unless the
    terms name a licence.
    """
    reading = recipe_of(dataset, None, dummies=recipe.dummies)
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
    answers = read_answers(store, requests)
    return record_of(reading, terms, served, recipe.asking, wording, answers), left
