"""Predict mentions with a finished spaCy pipeline, without fine-tuning (tinn2021 section 3.7: scispaCy).

The output files are those of a fine-tuning, so that they are scored in the same way. The pipeline gets the
dataset's words, so its own tokenizer is not used.
"""

import hashlib
import pickletools
import time
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.examples.kinds import TokensExample, read_examples
from pubmill.examples.tagging import to_labels
from pubmill.hardware.provenance import provenance
from pubmill.recipes.scoring import AnnotationRecipe
from pubmill.storage.files import sha256

CODE = {".py", ".pyc", ".pyd", ".so", ".dll", ".dylib"}
PICKLES = {".pkl", ".pickle", ".joblib", ".pt", ".pth"}
PICKLED = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
"""First bytes of pickles from protocol 2 on; spaCy's own files (JSON, non-empty MessagePack) have others."""
CALLS = {"MARK": {"INST", "OBJ"}, "GLOBAL": {"REDUCE", "BUILD"}}
"""Pickle instruction of protocol 0 or 1 -> instructions that can call code, but only after it."""
LOOKED_AT = 1_000_000
"""Number of bytes at the start of a file that are searched for such instructions."""


def annotate(
    recipe: AnnotationRecipe, pipeline: Path, model: str, examples: Path, split: str
) -> tuple[list[dict[str, Any]], dict[str, object]]:
    """Predict the mentions in a split's sentences; return one prediction per example, in order, and the
    report on how they were made, in which `model` is the name."""
    started = time.monotonic()
    nlp = load_pipeline(pipeline)
    from spacy.tokens import Doc  # after spaCy is known to be there

    known = {label for labels in nlp.pipe_labels.values() for label in labels}
    if strange := sorted(recipe.types.keys() - known):  # a misspelt label would silently yield nothing
        labels = [f"{name}: {', '.join(sorted(one)[:20])}" for name, one in nlp.pipe_labels.items() if one]
        raise PubmillError(
            f"{pipeline}: no part of the pipeline predicts entities with the label {', '.join(strange)}; "
            f"its labels are {'; '.join(labels) or 'none'}. Correct `types` in the model's spec"
        )
    sentences = list(read_examples(examples, TokensExample))
    if not sentences:
        raise PubmillError(f"{examples} has no examples; convert the dataset again")
    counts, rows = {"entities_taken": 0, "entities_left_out": 0}, list[dict[str, Any]]()
    documents = nlp.pipe(Doc(nlp.vocab, words=list(one.words)) for one in sentences)
    for sentence, document in zip(sentences, documents, strict=True):
        taken = [entity for entity in document.ents if entity.label_ in recipe.types]
        counts["entities_taken"] += len(taken)
        counts["entities_left_out"] += len(document.ents) - len(taken)
        mentions = [(entity.start, entity.end, recipe.types[entity.label_]) for entity in taken]
        rows.append({"id": sentence.id, "labels": to_labels(mentions, len(document), "bio")})
    made_with = provenance()
    identity = {key: nlp.meta.get(key) for key in ("lang", "name", "version")}
    identity["parts"] = list(nlp.pipe_names)
    report = {
        **made_with,
        "packages": {**made_with["packages"], "spacy": version("spacy")},
        "hardware": {**made_with["hardware"], "device": "cpu"},
        "recipe": {"task": "tokens", "pipeline": identity, **asdict(recipe)},
        "dev": dict.fromkeys(("metric", "best_step", "best_epoch", "best")) | {"steps": [], "scores": []},
        "seed": 1,
        "split": split,
        "dev_split": None,
        "max_length": None,
        "model": model,
        "model_sha256": pipeline_sha256(pipeline),
        "data_sha256": {split: sha256(examples)},
        "encoded": counts,
        "failed": None,
        "seconds": round(time.monotonic() - started, 3),
    }
    return rows, report


def load_pipeline(folder: Path) -> Any:
    """Load the spaCy pipeline (`Language`) in a folder, such as the inner folder of a model package.

    config.cfg can only name functions that spaCy or an installed package registers; folders with programs or
    pickles are refused nevertheless. Raises a `PubmillError` for such folders, for folders that spaCy cannot
    load, and if spaCy is not installed.
    """
    try:
        import spacy
    except ImportError:
        fault = "a spaCy pipeline needs spaCy, which is not installed; `make setup` installs it"
        raise PubmillError(fault) from None
    check_folder(folder)
    try:
        return spacy.load(folder)
    except StopRequestedError:
        raise
    except Exception as error:  # its readers raise almost anything for a damaged file
        message = " ".join(str(error).split())
        raise PubmillError(
            f"{folder}: spaCy {spacy.__version__} can't load this pipeline: {message[:500]}"
        ) from None


def check_folder(folder: Path) -> None:
    """Check that a folder is a pipeline's and contains nothing executable."""
    if not (folder / "config.cfg").is_file():
        inner = sorted(folder.glob("**/config.cfg"))
        hint = f"; {inner[0].parent} is one" if inner else ""
        raise PubmillError(f"{folder} is not the folder of a spaCy pipeline: it has no config.cfg{hint}")
    for path in files_of(folder):
        if path.suffix.lower() in CODE | PICKLES or _is_pickle(path):
            raise PubmillError(
                f"{folder} contains {path.relative_to(folder)}, a program or a pickle, which could run any "
                "code. A pipeline written by Language.to_disk has neither; give the folder of config.cfg only"
            )


def _is_pickle(path: Path) -> bool:
    """Return whether a file is a pickle; protocols 0 and 1 have no signature, but known instructions."""
    with path.open("rb") as content:
        start = content.read(LOOKED_AT)
    callable_now: set[str] = set()
    with suppress(ValueError, IndexError, UnicodeDecodeError, OverflowError):  # parsed as far as possible
        for instruction, _, _ in pickletools.genops(start):
            if instruction.name in callable_now:
                return True
            callable_now |= CALLS.get(instruction.name, set())
    return start.startswith(PICKLED)


def files_of(folder: Path) -> list[Path]:
    """Return all files of a pipeline, in a stable order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def pipeline_sha256(folder: Path) -> str:
    """Return one hash over the names and contents of all files of a pipeline."""
    digest = hashlib.sha256()
    for path in files_of(folder):
        digest.update(f"{path.relative_to(folder).as_posix()} {sha256(path)}\n".encode())
    return digest.hexdigest()
