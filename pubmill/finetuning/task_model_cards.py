"""Model cards of task models, with metadata for the Hugging Face hub."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.messages import commands
from pubmill.storage.files import read_json

PIPELINES = {
    "tokens": "token-classification",
    "sequence": "text-classification",
    "multilabel": "text-classification",
    "regression": "sentence-similarity",
    "span": "question-answering",
}
"""Kind of task -> name of the task on the hub."""
ACCESS = {
    "public": "The data are public.",
    "registration": "The data are given to those who register for them; their terms may bind this model too.",
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


def task_model_card(name: str, account: Mapping[str, Any], dataset: Path, standard: str | None) -> str:
    """The card as Markdown; `standard`: transformers' class that loads the folder whole, if there is one."""
    card = read_json(dataset / "card.json") if (dataset / "card.json").is_file() else {}
    data = str(card.get("dataset", dataset.name))
    parts = [
        _metadata(name, account, data),
        f"# {name}",
        f"`{account['model']}`, fine-tuned by pubmill on `{data}` with seed {account['seed']}.",
        _access(card, account),
        _use(standard),
        f"## Intended use and limits\n\n{LIMITS}",
        f"## Licence\n\n{LICENCE}",
        _table("Training", _training(account)),
        _table("Recipe", account["recipe"]),
        _table("Made with", _surroundings(account)),
    ]
    return "\n\n".join(parts) + "\n"


def _access(card: Mapping[str, Any], account: Mapping[str, Any]) -> str:
    """Who may have the data, in words; the pretrained model's may be stricter than the dataset's."""
    if "access" in account:
        return ACCESS[account["access"]]
    return ACCESS.get(card.get("access", ""), UNKNOWN)


def _metadata(name: str, account: Mapping[str, Any], data: str) -> str:
    """The YAML at the top; JSON is YAML."""
    dev, pipeline = account["dev"], PIPELINES[account["recipe"]["task"]]
    metrics = [{"type": dev["metric"], "value": dev["best"], "name": f"{dev['metric']} on dev"}]
    result = {
        "task": {"type": pipeline},
        "dataset": {"type": data, "name": data, "split": "dev"},
        "metrics": metrics,
    }
    fields = {
        "library_name": "transformers",
        "pipeline_tag": pipeline,
        "base_model": account["model"],
        "datasets": [data],
        "tags": ["pubmill", "biomedical"],
        **({"pubmill_access": account["access"]} if "access" in account else {}),
    }
    if dev["best"] is not None:
        fields["model-index"] = [{"name": name, "results": [result]}]
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---"])


def _use(standard: str | None) -> str:
    command = commands.script("predict", "--model", "FOLDER", "--input", "FILE", "--output", "FILE")
    ours = f"`{command}` of pubmill predicts with it."
    if standard:
        return f"transformers loads it as `{standard}`; {ours}"
    return f"transformers loads its encoder with `AutoModel`; its head is pubmill's. {ours}"


def _training(account: Mapping[str, Any]) -> dict[str, Any]:
    dev = account["dev"]
    return {
        f"{dev['metric']} on dev": dev["best"],
        "step of it": dev["best_step"],
        "steps": account["steps"],
        "steps on train and dev": account["steps_on_train_and_dev"],
        "max length": account["max_length"],
        "labels": len(account["labels"]),
        "mean loss of the last epoch": account["loss_by_epoch"][-1] if account["loss_by_epoch"] else None,
        "seconds": account["seconds"],
        "head goes on from the model before": account["head_from_start"],
        "failure of the model before": account["start_failed"],
        "pretrained model, sha256": account["model_sha256"],
        **{f"{split}, sha256": value for split, value in sorted(account["data_sha256"].items())},
    }


def _surroundings(account: Mapping[str, Any]) -> dict[str, Any]:
    """Code, packages and machine."""
    machine = {key: value for key, value in account["hardware"].items() if value not in (None, [])}
    return {"commit": account["commit"], "python": account["python"], **account["packages"], **machine}


def _table(title: str, values: Mapping[str, Any]) -> str:
    shown = {key: value for key, value in values.items() if value is not None}
    rows = [f"| {key.replace('_', ' ')} | {_cell(value)} |" for key, value in shown.items()]
    return "\n".join([f"## {title}", "", "| | |", "|---|---|", *rows])


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("|", "\\|").replace("\n", " ")
