"""`pubmill ask`."""

from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, DatasetName, Prompts, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.specs.model_specs import PLAIN
from pubmill.storage.privacy import keep_private, write_label_beside


def ask(
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(help="folder for the answers")],
    server: Annotated[str, typer.Option(help="for example http://localhost:8000/v1")],
    model: Annotated[str, typer.Option(help="its name on the server")],
    prompt: Prompts = PLAIN,
    shots: Annotated[int, typer.Option(help="worked examples of train before each prompt", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="chooses the worked examples; the server gets it too")] = 1,
    temperature: Annotated[float, typer.Option(help="0: the likeliest answer", min=0.0)] = 0.0,
    length: Annotated[int, typer.Option(help="longest answer in tokens", min=1)] = 512,
    structured: Annotated[
        bool, typer.Option("--structured", help="answers are JSON of a schema that the server enforces")
    ] = False,
    price: Annotated[
        str | None, typer.Option(help="JSON: prompt and answer, for a million tokens, and currency")
    ] = None,
    at_once: Annotated[int, typer.Option(help="requests at the same time", min=1)] = 8,
    most_requests: Annotated[
        int | None, typer.Option(help="most answers, with those of earlier calls", min=1)
    ] = None,
    most_tokens: Annotated[int | None, typer.Option(help="most tokens, about", min=1)] = None,
    results: Results = FULL,
) -> None:
    """Ask a language model for the test examples of a dataset.

    The server must speak OpenAI's protocol (vLLM, SGLang, llama.cpp, hosted ones); PUBMILL_API_KEY is sent as
    its key. Each answer is stored as it comes: the same command continues, and asks nothing twice. The file
    FOLDER/seed-N/DATASET.jsonl is scored by `pubmill score`, and FOLDER is a model for `pubmill new model`.
    """
    root = checkout()
    from pubmill.extras.ask.ask_recipes import Asking, AskRecipe
    from pubmill.extras.ask.asking import ask_dataset, system_of
    from pubmill.extras.ask.chat_server import ChatServer
    from pubmill.inspection import converted_datasets
    from pubmill.predictions.predictions import answers_to_labels
    from pubmill.predictions.submission import recipe_of
    from pubmill.recipes.reading import as_values, read
    from pubmill.recipes.submissions import Budget, Price
    from pubmill.recipes.tables import project
    from pubmill.storage.files import write_json

    specs = converted_datasets.specs_of_results(root, results)
    converted_datasets.check_name(specs, dataset)
    converted = converted_datasets.converted_folder(root, results, dataset)
    keep_private([converted])
    asking = Asking(
        model=model, shots=shots, seed=seed, temperature=temperature, length=length, structured=structured,
    )  # fmt: skip
    stated = read(Price, price, option="--price") if price else None
    path, beside = folder / f"seed-{seed}" / f"{dataset}.jsonl", folder / "asked"
    write_label_beside(path)
    template = converted_datasets.template_text(root, results, specs, prompt, dataset)
    recipe = project(AskRecipe, specs.datasets[dataset], asking=asking, prompt=template, published=None)
    sent = beside / f"{dataset}.seed-{seed}.requests.jsonl.gz"
    record, left = ask_dataset(
        recipe, converted, path, sent, server=ChatServer(url=server), at_once=at_once, price=stated,
        budget=Budget(requests=most_requests, tokens=most_tokens),
    )  # fmt: skip
    write_json(beside / f"{dataset}.seed-{seed}.json", as_values(record))
    write_json(beside / f"{dataset}.mapping.json", answers_to_labels(recipe_of(converted)))
    write_json(beside / "system.json", as_values(system_of(record)))
    report_progress(
        f"{record.answers} answers, {record.prompt_tokens:,} and {record.answer_tokens:,} tokens, "
        f"{record.cut} cut off{f', {record.price}' if record.price else ''}"
    )
    if left:
        raise PubmillError(
            f"{left} examples are not asked yet: the budget is spent. With a larger --most-requests or "
            "--most-tokens, the same command continues"
        )
    mapping = beside / f"{dataset}.mapping.json"
    print(f"pubmill score {path} --dataset {dataset} --mapping {mapping} --results {results}")


VERB = Verb("Data and predictions", ask)
