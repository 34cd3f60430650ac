"""Model cards of task models, with metadata for the Hugging Face hub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from pubmill.examples.kind_facts import FACTS
from pubmill.messages import commands
from pubmill.storage.files import read_json

ACCESS = {
    "public": "The data are public.",
    "registration": "The data are given to those who register for them; their terms may bind this model too.",
    "local": "The data are the user's own and not public. Their owner decides whether this model may be "
    "shared: weights can hold what they learnt from.",
    "credentialed": "**Trained on credentialed data.** They are given only to those who signed a data use "
    "agreement, which also decides whether this model may be shared: weights can hold what they learnt from.",
}
LIMITS = (
    "For text like its training data: the same kind of documents, and what the dataset's guidelines asked "
    "for. Its mistakes are as frequent as the scores say, and more frequent elsewhere; no decision on a "
    "patient may rest on it."
)
LICENCE = (
    "None is given by pubmill, whose code is under the Apache License 2.0. The terms of the pretrained "
    "model and of the data (`licence:` of the dataset's spec) hold for what is made of them."
)
UNKNOWN = "Who may have the data isn't known here: the dataset had no `card.json`."


def task_model_card(name: str, report: Mapping[str, Any], dataset: Path, standard: str | None) -> str:
    """Return the card as Markdown; `standard`: the transformers class that loads the folder whole, if any."""
    card = read_json(dataset / "card.json") if (dataset / "card.json").is_file() else {}
    data = str(card.get("dataset", dataset.name))
    machine = {key: value for key, value in report["hardware"].items() if value not in (None, [])}
    made_with = {"commit": report["commit"], "python": report["python"], **report["packages"], **machine}
    dev, losses = report["dev"], report["loss_by_epoch"]
    training = {
        f"{dev['metric']} on dev": dev["best"],
        "step of it": dev["best_step"],
        "steps": report["steps"],
        "steps on train and dev": report["steps_on_train_and_dev"],
        "max length": report["max_length"],
        "labels": len(report["labels"]),
        "mean loss of the last epoch": losses[-1] if losses else None,
        "seconds": report["seconds"],
        "head continues that of the model before": report["head_from_start"],
        "failure of the model before": report["start_failed"],
        "pretrained model, sha256": report["model_sha256"],
        **{f"{split}, sha256": value for split, value in sorted(report["data_sha256"].items())},
    }
    command = commands.pubmill("predict", "FOLDER", "FILE", "FILE")
    loaded = "transformers loads its encoder with `AutoModel`; its head is pubmill's."
    if standard:
        loaded = f"transformers loads it as `{standard}`;"
    parts = [
        _metadata(name, report, data),
        f"# {name}",
        f"`{report['model']}`, fine-tuned by pubmill on `{data}` with seed {report['seed']}.",
        # The pretrained model may be more restricted than the dataset.
        ACCESS[report["access"]] if "access" in report else ACCESS.get(card.get("access", ""), UNKNOWN),
        f"{loaded} `{command}` of pubmill predicts with it.",
        f"## Intended use and limits\n\n{LIMITS}",
        f"## Licence\n\n{LICENCE}",
        _markdown_table("Training", training),
        _markdown_table("Recipe", report["recipe"]),
        _markdown_table("Made with", made_with),
    ]
    return "\n\n".join(parts) + "\n"


def _metadata(name: str, report: Mapping[str, Any], data: str) -> str:
    """Return the YAML at the top, which the hub and `pubmill.storage.privacy` read."""
    access = {"pubmill_access": report["access"]} if "access" in report else {}
    dev, task = report["dev"], FACTS[report["recipe"]["task"]].hub_task
    result = EvalResult(
        task_type=task,
        dataset_type=data,
        dataset_name=data,
        dataset_split="dev",
        metric_type=dev["metric"],
        metric_value=dev["best"],
        metric_name=f"{dev['metric']} on dev",
    )
    metadata = ModelCardData(
        library_name="transformers",
        pipeline_tag=task,
        base_model=report["model"],
        datasets=[data],
        tags=["pubmill", "biomedical"],
        model_name=name,
        eval_results=None if dev["best"] is None else [result],
        **access,
    )
    return f"---\n{metadata.to_yaml()}\n---"


def _markdown_table(title: str, values: Mapping[str, object]) -> str:
    rows = []
    for key, value in values.items():
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            cell = text.replace("|", "\\|").replace("\n", " ")
            rows.append(f"| {key.replace('_', ' ')} | {cell} |")
    return "\n".join([f"## {title}", "", "| | |", "|---|---|", *rows])
