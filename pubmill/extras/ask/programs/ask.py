"""Ask a language model for the test examples of a dataset.

    .venv/bin/python pubmill/extras/ask/programs/ask.py --recipe JSON \\
        --server http://localhost:8000/v1 --at-once 8 \\
        --dataset datasets/DATASET --output answers/MODEL/seed-1/DATASET.jsonl

Inputs:  the converted dataset, the file of a published prompt, and the recipe
         (pubmill.extras.ask.ask_recipes.AskRecipe)
Outputs: a JSON line for each answer, and beside it DATASET.requests.jsonl.gz (the requests by digest) and
         DATASET.asked.json: settings, tokens, what the server says of itself
         (pubmill.extras.ask.asking.AskedRecord)

Each answer is stored as it comes, in a file beside the output that has the recipe's digest in its name: the
same command continues. Without --licence, a hosted server is refused for the text of a credentialed dataset.
"""

import hashlib
from pathlib import Path
from typing import Annotated

from pubmill.errors import PubmillError, run
from pubmill.extras.ask.ask_recipes import AskRecipe
from pubmill.extras.ask.asking import ask_dataset, with_whole_prompt
from pubmill.extras.ask.chat_server import ChatServer
from pubmill.job import program
from pubmill.recipes.reading import as_json, as_values, read
from pubmill.recipes.submissions import Budget, Price
from pubmill.storage.files import write_json
from pubmill.storage.privacy import keep_private, write_label_beside


def main(
    recipe: AskRecipe,
    server: Annotated[str, "address of the server"],
    at_once: Annotated[int, "requests at the same time"],
    dataset: Annotated[Path, "the converted dataset"],
    output: Annotated[Path, "answers to write, .jsonl"],
    prompt: Annotated[Path | None, "the file of a published prompt"] = None,
    price: Annotated[str | None, "JSON: what the server charges (pubmill.recipes.submissions.Price)"] = None,
    budget: Annotated[str | None, "JSON: the most that is asked (pubmill.recipes.submissions.Budget)"] = None,
    licence: Annotated[str | None, "why credentialed text may be sent to a third-party server"] = None,
) -> None:
    keep_private([dataset])
    write_label_beside(output)
    digest = hashlib.sha256(as_json(as_values(recipe)).encode()).hexdigest()[:12]
    store = output.with_name(f".{output.stem}.{digest}.partial")
    whole, sent = with_whole_prompt(recipe, prompt), output.with_suffix(".requests.jsonl.gz")
    record, left = ask_dataset(
        whole, dataset, store, sent, server=ChatServer(url=server), at_once=at_once, licence=licence,
        budget=read(Budget, budget, option="--budget") if budget else Budget(),
        price=read(Price, price, option="--price") if price else None,
    )  # fmt: skip
    tokens = f"{record.prompt_tokens} and {record.answer_tokens} tokens"
    if left:
        raise PubmillError(
            f"the budget is spent: {record.answers} answers, {tokens}; {left} examples are not asked yet. "
            "The answers are kept: raise `budget` of the model's spec and run again to ask the rest"
        )
    write_json(output.with_suffix(".asked.json"), as_values(record))
    store.replace(output)
    print(f"{record.answers} answers, {tokens}, {record.cut} cut off")


if __name__ == "__main__":
    run(program(main))
