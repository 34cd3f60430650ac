"""Model cards: the data, training and cost of a model."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import ModelCardData

from pubmill.storage.files import read_json
from pubmill.storage.privacy import PUBLIC

AS_RELEASED = (
    "weights as they were (a pickle turned into safetensors), the tokenizer rewritten with its treatment of "
    "capitals explicit"
)
INTRODUCTIONS = {
    "pretraining": "Pretrained by pubmill.",
    "random": "Freshly initialised, never trained: what an architecture does without pretraining.",
    "folder": f"From a folder of the user's own: {AS_RELEASED}.",
    "hub": f"From the Hugging Face hub: {AS_RELEASED}.",
    "archive": f"From an archive of the authors': {AS_RELEASED}.",
}

COMPARISON = "To fine-tune it, and compare it with others under the same protocol."
USE = {
    "pretraining": "An encoder to fine-tune on biomedical text, and to compare with others under the same "
    "protocol. By itself it fills masked words.",
    "random": "The same fine-tuning without pretraining, beside which one sees what pretraining brings.",
    **dict.fromkeys(("folder", "hub", "archive"), COMPARISON),
}
LIMITS = (
    "It knows no more than its corpus, with this corpus's errors, gaps and leanings, and was examined on "
    "the test sets of the tables alone. Nothing that is built on it is fit to decide on a patient."
)
LICENSED_DATA = (
    "**Made of data that are not public.** They are given only to those who agreed to their terms, which "
    "also decide whether this model may be shared: weights can hold what they learnt from.\n"
)
OWN_LICENCE = (
    "None is given by pubmill, whose code is under the Apache License 2.0: it is for those who trained the "
    "model to say, within the terms of what it was trained on."
)
UNKNOWN_LICENCE = (
    "Not stated in the card that it came with (README.original.md, if there was one); see its source."
)


def model_card(
    model: str,
    weights: Mapping[str, Any],
    scale: str,
    statistics: Mapping[str, Any],
    pretraining: Mapping[str, Any] | None,
    checkpoint: Path | None = None,
    vocab: Path | None = None,
    original: Path | None = None,
    access: str = PUBLIC,
) -> str:
    """Return the card as Markdown, with figures from the checkpoint's state and log. The licence of released
    weights comes from the `original` card. `access` is the access class of the training text. The same inputs
    give the same text: the only dates are those of its sources."""
    trained = weights["kind"] == "pretraining"
    label: dict[str, Any] = {"pubmill_access": access} if access != PUBLIC else {}
    metadata = ModelCardData(library_name="transformers", **label).to_yaml()
    top = f"---\n{metadata}\n---\n\n# {model}\n"
    parts = [top, INTRODUCTIONS[weights["kind"]] + "\n", LICENSED_DATA if label else ""]
    if scale != "full":
        parts.append(f"**Scale `{scale}`: a reduced recipe, not comparable with published models.**\n")
    parts.append(_markdown_section("Weights", weights))
    data = _corpus_fields(statistics)
    if vocab is not None and (vocab / "diagnosis.json").is_file():
        diagnosis = read_json(vocab / "diagnosis.json")
        data["vocabulary"] = {name: diagnosis.get(name) for name in ("size", "documents", "words")}
    parts.append(_markdown_section("Data", data))
    if pretraining:
        shape = pretraining if trained else {"architecture": pretraining["architecture"]}
        parts.append(_markdown_section("Recipe", shape))
    if trained and checkpoint is not None:
        parts.append(_markdown_section("Training", _training_fields(checkpoint)))
    parts.append(f"## Intended use and limits\n\n{USE[weights['kind']]} {LIMITS}\n")
    parts.append(f"## Licence\n\n{_licence_text(weights['kind'], original)}\n")
    return "\n".join(part for part in parts if part)


def _licence_text(kind: str, original: Path | None) -> str:
    """Return the card's text on the licence; for released weights, as their original card names it."""
    if kind in ("pretraining", "random"):
        return OWN_LICENCE
    text = original.read_text(encoding="utf-8", errors="replace") if original and original.is_file() else ""
    top = text.partition("\n---")[0] if text.startswith("---\n") else ""
    named = re.search(r"(?m)^license:[ \t]*(\S.*)$", top)
    return f"`{named[1].strip()}`, as README.original.md says." if named else UNKNOWN_LICENCE


def _corpus_fields(statistics: Mapping[str, Any]) -> dict[str, object]:
    """Describe the pretraining corpus: name, day, size, documents of each source, rejected documents."""
    facts = {"last revision" if key == "day" else key: of for key, of in corpus_of_model(statistics).items()}
    by_source = {source: counts["documents"] for source, counts in statistics.get("by_source", {}).items()}
    return {**facts, "documents by source": by_source, "rejected": statistics.get("rejected", {})}


def corpus_of_model(statistics: Mapping[str, Any]) -> dict[str, object]:
    """Return what identifies the corpus of a model, from its stats.json: its name, the day of the last
    revision of a document, the last file of each source, and its size."""
    of_recipe = dict.fromkeys(("corpus", "last_files"), statistics.get("recipe", {}))
    names = ("corpus", "day", "last_files", "documents", "words", "bytes")
    values = {name: of_recipe.get(name, statistics).get(name) for name in names}
    return {name: value for name, value in values.items() if value}


def _training_fields(checkpoint: Path) -> dict[str, object]:
    """Return state.json without the recipe and the running loss and sums, and the log's last line."""
    state = read_json(checkpoint / "state.json")
    left_out = ("recipe", "pending", "average", "lowest")
    state = {name: value for name, value in state.items() if name not in left_out}
    log = checkpoint / "log.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    return state | {"last log line": json.loads(lines[-1])} if lines else state


def _markdown_section(title: str, values: Mapping[str, object]) -> str:
    lines = [f"| {name} | {_markdown_cell(value)} |" for name, value in _flatten(values)]
    return "\n".join([f"## {title}\n", "| | |", "|---|---|", *lines, ""]) if lines else ""


def _flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        label = f"{prefix}{name.replace('_', ' ')}"
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{label}: ")
        else:
            yield label, value


def _markdown_cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(_markdown_cell(item) for item in value) or "–"
    return str(value).replace("|", "\\|").replace("\n", " ")
