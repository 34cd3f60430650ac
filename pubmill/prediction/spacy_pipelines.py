"""Mentions by a finished spaCy pipeline, as it is (tinn2021 section 3.7: scispaCy).

Nothing is trained. What is written is what a fine-tuning writes, so that it is scored in the same way. The
pipeline is given the dataset's words, so its own tokenizer has no part in it.
"""

import hashlib
import pickletools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pubmill.annotation.examples import TokensExample, read_examples
from pubmill.annotation.tagging import to_labels
from pubmill.errors import PubmillError
from pubmill.hardware.provenance import provenance
from pubmill.storage.files import sha256

CODE = {".py", ".pyc", ".pyd", ".so", ".dll", ".dylib"}
PICKLES = {".pkl", ".pickle", ".joblib", ".pt", ".pth"}
PICKLED = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
"""How a pickle of protocol 2 or later begins; spaCy's own files (JSON, MessagePack with something in it)
never do."""
CALLS = {"MARK": {"INST", "OBJ"}, "GLOBAL": {"REDUCE", "BUILD"}}
"""Instructions of a pickle of protocol 0 or 1 that call something, by one that must come before them; a
pickle without them does nothing."""
LOOKED_AT = 1_000_000
"""Bytes of a file in which such instructions are looked for."""


@dataclass(frozen=True, kw_only=True)
class AnnotationRecipe:
    """`types`: label of the pipeline's entities -> the dataset's type of mention, "" where its labels have
    none. Entities of other labels are left out."""

    types: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """A pipeline's predictions of a split, one for each example in its order, and how they came about."""

    predictions: list[dict[str, Any]]
    account: dict[str, Any]


def annotate(recipe: AnnotationRecipe, pipeline: Path, model: str, examples: Path, split: str) -> Annotation:
    """Predict the mentions of a split's sentences; `model` is the name that the account says."""
    started = time.monotonic()
    nlp = load_pipeline(pipeline)
    check_labels(recipe, nlp, pipeline)
    sentences = list(read_examples(examples, TokensExample))
    if not sentences:
        raise PubmillError(f"{examples} holds no example; convert the dataset again")
    counts = {"entities_taken": 0, "entities_left_out": 0}
    labelled = list(predict(nlp, [sentence.words for sentence in sentences], recipe.types, counts))
    rows = [{"id": one.id, "labels": labels} for one, labels in zip(sentences, labelled, strict=True)]
    account = {
        **_surroundings(),
        "recipe": {"task": "tokens", "pipeline": _named(nlp), **asdict(recipe)},
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
    return Annotation(predictions=rows, account=account)


def load_pipeline(folder: Path) -> Any:
    """The spaCy pipeline (`Language`) in a folder, such as a model package's inner one.

    config.cfg can name functions that spaCy or an installed package registers, and no others; a folder
    with programs or pickles is refused all the same. Raises a `PubmillError` for that, for a folder that
    spaCy can't load, and where spaCy isn't installed.
    """
    spacy = _spacy()
    check_folder(folder)
    try:
        return spacy.load(folder)
    except (ValueError, OSError, KeyError, ImportError) as error:
        told = " ".join(str(error).split())
        raise PubmillError(
            f"{folder}: spaCy {spacy.__version__} can't load this pipeline: {told[:500]}"
        ) from None


def check_folder(folder: Path) -> None:
    """That a folder is a pipeline's and holds nothing that could be run."""
    if not (folder / "config.cfg").is_file():
        inner = sorted(folder.glob("**/config.cfg"))
        hint = f"; {inner[0].parent} is one" if inner else ""
        raise PubmillError(f"{folder} is no folder of a spaCy pipeline: it has no config.cfg{hint}")
    for path in files_of(folder):
        if path.suffix.lower() in CODE | PICKLES or _is_pickle(path):
            raise PubmillError(
                f"{folder} holds {path.relative_to(folder)}, a program or a pickle, which could do anything. "
                "A pipeline that Language.to_disk wrote has neither; give the folder with config.cfg alone"
            )


def _is_pickle(path: Path) -> bool:
    """Whether a file is a pickle of any protocol; 0 and 1 have no mark, so their instructions are read."""
    with path.open("rb") as content:
        start = content.read(LOOKED_AT)
    callable_now: set[str] = set()
    for instruction in _instructions(start):
        if instruction in callable_now:
            return True
        callable_now |= CALLS.get(instruction, set())
    return start.startswith(PICKLED)


def _instructions(content: bytes) -> Iterator[str]:
    """The names of a pickle's instructions, as far as the bytes can be read as such; nothing is run."""
    try:
        for instruction, _, _ in pickletools.genops(content):
            yield instruction.name
    except (ValueError, IndexError, UnicodeDecodeError, OverflowError):
        return


def files_of(folder: Path) -> list[Path]:
    """All files of a pipeline, in a stable order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def pipeline_sha256(folder: Path) -> str:
    """One hash over all files of a pipeline: names and contents."""
    digest = hashlib.sha256()
    for path in files_of(folder):
        digest.update(f"{path.relative_to(folder).as_posix()} {sha256(path)}\n".encode())
    return digest.hexdigest()


def check_labels(recipe: AnnotationRecipe, nlp: Any, folder: Path) -> None:
    """That the pipeline has the wanted labels: of a misspelt one, it would find nothing in silence."""
    known = {label for labels in nlp.pipe_labels.values() for label in labels}
    strange = sorted(recipe.types.keys() - known)
    if strange:
        raise PubmillError(
            f"{folder}: no part of the pipeline gives entities of label {', '.join(strange)}; "
            f"its labels are {_shown(nlp.pipe_labels)}. Correct `types` in the model's spec"
        )


def _shown(labels: dict[str, Sequence[str]]) -> str:
    known = (f"{name}: {', '.join(sorted(given)[:20])}" for name, given in labels.items() if given)
    return "; ".join(known) or "none"


def predict(
    nlp: Any, sentences: Iterable[Sequence[str]], types: dict[str, str], counts: dict[str, int]
) -> Iterator[list[str]]:
    """BIO labels of each sentence's words, after every part of the pipeline has seen them in turn.

    `counts` gains the entities taken, and those of labels that are not in `types`.
    """
    from spacy.tokens import Doc

    documents = (Doc(nlp.vocab, words=list(words)) for words in sentences)
    for document in nlp.pipe(documents):
        taken = [entity for entity in document.ents if entity.label_ in types]
        counts["entities_taken"] += len(taken)
        counts["entities_left_out"] += len(document.ents) - len(taken)
        mentions = [(entity.start, entity.end, types[entity.label_]) for entity in taken]
        yield to_labels(mentions, len(document), "bio")


def _spacy() -> Any:
    try:
        import spacy
    except ImportError:
        raise PubmillError(
            "a pipeline of spaCy needs spaCy, which isn't installed; `make setup` installs it"
        ) from None
    return spacy


def _named(nlp: Any) -> dict[str, Any]:
    """What the pipeline calls itself, and its parts in order."""
    said = {key: nlp.meta.get(key) for key in ("lang", "name", "version")}
    return {**said, "parts": list(nlp.pipe_names)}


def _surroundings() -> dict[str, Any]:
    """Commit, packages, Python and hardware."""
    found = provenance()
    spacy = _spacy()
    found["packages"] = {**found["packages"], "spacy": spacy.__version__}
    found["hardware"] = {**found["hardware"], "device": "cpu"}
    return found
