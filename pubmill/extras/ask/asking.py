"""Prompt a language model with the test examples of a converted dataset, after worked examples of its
training split, and record its answers with the settings and the numbers of tokens and of cut answers. Answers
may be asked for as JSON of a schema (`response_format`)."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.examples.prompts import Wording, prompt_of, published_template, right_answer, wording_of
from pubmill.examples.tagging import to_mentions
from pubmill.extras.ask.ask_recipes import Asking, AskRecipe
from pubmill.extras.ask.asked_answers import ask_all, read_answers, request_digest
from pubmill.extras.ask.chat_server import ChatServer
from pubmill.metrics import gold_of
from pubmill.metrics.records import PREDICTION_FORMS
from pubmill.predictions.free_answers import counts_of
from pubmill.predictions.scores import examples_of
from pubmill.predictions.submission import recipe_of
from pubmill.recipes.submissions import Budget, Price, System
from pubmill.storage.files import write_jsonl_gz
from pubmill.storage.privacy import CREDENTIALED

TEXT = {"type": "string"}
UNLIMITED = Budget()


@dataclass(frozen=True, kw_only=True)
class AskedRecord:
    """The record of a model's answers for a dataset.

    - `server`: host and port; `hosted`: whether the server may belong to a third party.
    - `template`: the prompt; `words`: the texts for its places other than the input.
    - `at_once`, `licence`: as in `ask_dataset`.
    - `models`, `fingerprints`: model name and system fingerprint in the answers -> number of answers.
    - `prompt_tokens`, `answer_tokens`: as the server counts them.
    - `cut`: number of answers that were cut off at the limit of their length.
    - `price`: cost of all these tokens at the stated price, with its currency.
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
    licence: str | None = None
    price: str | None = None


def with_whole_prompt(recipe: AskRecipe, file: Path | None) -> AskRecipe:
    """Return a recipe with its whole prompt; a published one is `file` with `recipe.prompt` inserted."""
    if recipe.published is None:
        return recipe
    if file is None:
        raise PubmillError("the prompt is a published one, and its file is not given (--prompt)")
    prompt = published_template(file, recipe.published.place, recipe.prompt)
    return replace(recipe, prompt=prompt, published=None)


def ask_dataset(
    recipe: AskRecipe,
    dataset: Path,
    store: Path,
    requests_file: Path,
    *,
    server: ChatServer,
    at_once: int,
    budget: Budget = UNLIMITED,
    price: Price | None = None,
    licence: str | None = None,
) -> tuple[AskedRecord, int]:
    """Request the answers that the file `store` lacks; return the record of all its answers, and how many
    examples have none because the budget is spent. `requests_file` (.jsonl.gz) gets all requests. `at_once`:
    number of concurrent requests; `licence`: why a third party's server may get text of a credentialed
    dataset; without it, such a server is refused for such a dataset by a `PubmillError`."""
    reading = recipe_of(dataset, dummies=recipe.dummies)
    if reading.access == CREDENTIALED and server.is_hosted and not licence:
        raise PubmillError(
            f"{reading.dataset} is a credentialed dataset: its text must not be sent to {server.url}, which "
            "may be a service of others (physionet's rule). Run the model on a machine of your own. If the "
            "dataset's licence allows this service, a study can say so: `server_licences`"
        )
    wording = wording_of(recipe, reading.labels, recipe.prompt)
    train = examples_of(dataset, replace(reading, split="train")) if recipe.asking.shots else []
    schema = schema_of(reading.kind, reading.labels)
    requests = requests_for(examples_of(dataset, reading), train, wording, recipe.asking, schema)
    digests = ((name, request_digest(one), one) for name, one in requests.items())
    lines = ({"custom_id": name, "request": digest, "body": one} for name, digest, one in digests)
    write_jsonl_gz(requests_file, lines)
    left = ask_all(requests, server, store, at_once, budget)
    bodies = [row["response"]["body"] for row in read_answers(store, requests).values()]
    read, written, cut = counts_of(bodies).values()
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
        at_once=at_once,
        licence=licence,
        price=price.in_words(read, written) if price else None,
    )
    return record, left


def _counted(bodies: list[dict[str, Any]], key: str) -> dict[str, int]:
    return dict(sorted(Counter(str(body[key]) for body in bodies if body.get(key)).items()))


def system_of(record: AskedRecord) -> System:
    """Return the statement about the system, as submissions have it."""
    version = ", ".join([*record.models, *record.fingerprints]) or "not stated by the server"
    return System(
        name=record.asking["model"], version=version, prompt=record.template, local=not record.hosted
    )


def requests_for(
    examples: Sequence[Example], train: Sequence[Example], wording: Wording, asking: Asking, schema: Any
) -> dict[str, dict[str, Any]]:
    """Return id -> chat request for some examples; all have the same worked examples. `schema`: that of the
    answers, if they are asked for as JSON."""
    if asking.shots > len(train):
        raise PubmillError(f"--shots {asking.shots}: the training split has {len(train)} examples")
    shots = random.Random(asking.seed).sample(list(train), asking.shots)
    typed, schema = bool(wording.words["types"]), schema if asking.structured else None
    before = []
    for shot in shots:
        answer = right_json(shot, typed) if schema else right_answer(shot, typed)
        before += [_question(shot, wording, schema), {"role": "assistant", "content": answer}]
    form = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    settings = {
        "temperature": asking.temperature,
        "seed": asking.seed,
        "max_tokens": asking.length,
        **({"response_format": form} if schema else {}),
    }
    return {
        one.id: {"model": asking.model, "messages": [*before, _question(one, wording, schema)], **settings}
        for one in examples
    }


def _question(example: Any, wording: Wording, schema: Any) -> dict[str, str]:
    """Return the message with an example's prompt, and the schema, since a server shows its model none."""
    asked = f"\n\nAnswer with JSON of this schema: {json.dumps(schema)}" if schema else ""
    return {"role": "user", "content": f"{prompt_of(example, wording)}{asked}"}


def schema_of(kind: str, labels: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of the answers for a kind of dataset; `labels`: types for mentions."""
    named = {"enum": [label for label in labels if label]}
    mention = {"text": TEXT, "type": named} if len(labels) > 1 else {"text": TEXT}
    keys: dict[str, dict[str, Any]] = {
        "tokens": {"mentions": {"type": "array", "items": _object(mention)}},
        "sequence": {"label": named},
        "multilabel": {"labels": {"type": "array", "items": named}},
        "regression": {"score": {"type": "number"}},
        "span": {"answers": {"type": "array", "items": TEXT}},
        "relations": {"relations": {"type": "array", "items": TEXT}},
        "mentions": {"mentions": {"type": "array", "items": _object(mention)}},
    }
    return _object(keys[kind])


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def right_json(example: Example, typed: bool) -> str:
    """Return the answer that an example's gold asks for; `typed`: with the type of each mention."""
    key, value = PREDICTION_FORMS[type(example)].key, gold_of(example)
    if key == "relations":
        value = [f"{label}: {a} | {b}" for a, b, label, *_ in value]
    elif hasattr(example, "answers"):
        value = [answer.text for answer in example.answers]
    elif hasattr(example, "words"):
        key, spans = "mentions", to_mentions(value) if key == "labels" else value
        named = ((" ".join(example.words[start:end]), kind) for start, end, kind in spans)
        value = [{"text": text} | ({"type": kind} if typed else {}) for text, kind in named]
    return json.dumps({key: value}, ensure_ascii=False)
