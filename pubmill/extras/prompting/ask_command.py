"""`pubmill ask`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pubmill.cli.checkout import checkout
from pubmill.cli.studies import FULL, DatasetName, Results
from pubmill.cli.verbs import Verb
from pubmill.errors import PubmillError
from pubmill.messages.progress import report_progress
from pubmill.storage.privacy import CREDENTIALED, keep_private, write_label_beside


def ask(
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(help="folder for the answers")],
    server: Annotated[str, typer.Option(help="for example http://localhost:8000/v1")],
    model: Annotated[str, typer.Option(help="its name on the server")],
    shots: Annotated[int, typer.Option(help="worked examples of train before each prompt", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="chooses the worked examples; the server gets it too")] = 1,
    temperature: Annotated[float, typer.Option(help="0: the likeliest answer", min=0.0)] = 0.0,
    length: Annotated[int, typer.Option(help="longest answer in tokens", min=1)] = 512,
    at_once: Annotated[int, typer.Option(help="requests at the same time", min=1)] = 8,
    most_requests: Annotated[int | None, typer.Option(help="ends after so many requests", min=1)] = None,
    most_tokens: Annotated[int | None, typer.Option(help="ends after about so many tokens", min=1)] = None,
    results: Results = FULL,
) -> None:
    """Ask a language model for the test examples of a dataset.

    The server must speak OpenAI's protocol (vLLM, SGLang, llama.cpp, hosted ones); PUBMILL_API_KEY is sent as
    its key. Each answer is stored as it comes: the same command continues, and asks nothing twice. The file
    FOLDER/seed-N/DATASET.jsonl is scored by `pubmill score`, and FOLDER is a model for `pubmill new model`.
    """
    root = checkout()
    from pubmill.extras.prompting.asked_answers import Budget, ask_all, read_answers
    from pubmill.extras.prompting.asked_records import answers_to_labels, record_of, system_of
    from pubmill.extras.prompting.chat_server import ChatServer
    from pubmill.extras.prompting.worked_examples import NOTHING, Asking, requests_for
    from pubmill.extras.submissions.inputs_without_gold import wording_of
    from pubmill.extras.submissions.scores import examples_of
    from pubmill.extras.submissions.submission import recipe_of
    from pubmill.inspection.converted_datasets import check_name, converted_folder, specs_of_results
    from pubmill.recipes.writing import as_values
    from pubmill.storage.files import write_json

    found = specs_of_results(root, results)
    check_name(found, dataset)
    spec, converted = found.datasets[dataset], converted_folder(root, results, dataset)
    keep_private([converted])
    recipe, place = recipe_of(converted, None, dummies=spec.dummies), ChatServer(url=server)
    if recipe.access == CREDENTIALED and place.is_hosted:
        raise PubmillError(
            f"{dataset} is a credentialed dataset: its text must not be sent to {server}, which may be a "
            "service of others (physionet's rule). Run the model on a machine of your own"
        )
    asking = Asking(model=model, shots=shots, seed=seed, temperature=temperature, length=length)
    wording, examples = wording_of(spec, recipe.labels), examples_of(converted, recipe)
    train = examples_of(converted, replace(recipe, split="train")) if shots else []
    requests = requests_for(examples, train, wording, asking)
    path = folder / f"seed-{seed}" / f"{dataset}.jsonl"
    write_label_beside(path)
    left = ask_all(requests, place, path, at_once, Budget(requests=most_requests, tokens=most_tokens))
    record = record_of(recipe, place, asking, wording, read_answers(path, requests))
    beside = folder / "asked" / f"{dataset}.seed-{seed}"
    write_json(beside.with_name(f"{beside.name}.json"), as_values(record))
    mapping = beside.with_name(f"{dataset}.mapping.json")
    write_json(mapping, answers_to_labels(recipe, NOTHING))
    write_json(folder / "asked" / "system.json", as_values(system_of(record)))
    report_progress(
        f"{record.answers} of {len(requests)} answers, {record.prompt_tokens:,} and {record.answer_tokens:,} "
        f"tokens, {record.cut} cut off"
    )
    if left:
        raise PubmillError(f"{left} examples are not asked yet; the same command continues")
    print(f"pubmill score {path} --dataset {dataset} --mapping {mapping} --results {results}")


VERB = Verb("Data and predictions", ask)
