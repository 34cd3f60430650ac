"""A submission: another system's predictions for a split, read, checked and scored."""

import json
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, SPLITS, Example, read_examples
from pubmill.examples.prompts import labels_of
from pubmill.examples.tagging import SUBWORDS
from pubmill.formats.document_files import ARCHIVES
from pubmill.formats.text_files import check_characters
from pubmill.messages.quotations import withholding
from pubmill.predictions import ordered_form, tsv_form
from pubmill.predictions.forms import read_rows, read_text
from pubmill.predictions.mapped_labels import LeftAside
from pubmill.predictions.matching import match
from pubmill.predictions.predictions import Normaliser, is_constant
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.submissions import SubmissionRecipe, System
from pubmill.storage.files import read_json, read_jsonl_gz
from pubmill.storage.privacy import CREDENTIALED, PUBLIC
from pubmill.storage.result_paths import CARD, PREDICTIONS, RELATIVE, RunKey


@dataclass(frozen=True, kw_only=True)
class Submission:
    """Predictions in pubmill's own form, one line per example in order, with the form of the file and what
    was left aside."""

    form: str
    lines: list[dict[str, Any]]
    reading: LeftAside


def recipe_of(
    folder: Path,
    system: System | None = None,
    form: str | None = None,
    mapping: dict[str, str | None] | None = None,
    dummies: Dummies | None = None,
    order: Literal["export"] | None = None,
    partial: bool = False,
) -> SubmissionRecipe:
    """Return the recipe for a converted dataset, from its card; a `PubmillError` if it is no card."""
    card = read_json(folder / CARD)
    try:
        values = {name: card[name] for name in ("dataset", "kind", "access", "metric", "negative")}
        values |= {"split": split_of(card["splits"]), "labels": labels_of(card)}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PubmillError(
            f"{folder / CARD}: not the card of a dataset ({type(error).__name__}: {error}); convert the "
            "dataset again"
        ) from None
    return SubmissionRecipe(
        **values, dummies=dummies, form=form, mapping=mapping or {}, system=system, order=order,
        partial=partial,
    )  # fmt: skip


def split_of(splits: Iterable[str]) -> str:
    """Return the split that submissions predict: test, or the last that the dataset has."""
    return max(splits, key=SPLITS.index)


def check_access(recipe: SubmissionRecipe) -> None:
    """Check that the system for a credentialed dataset is stated to run locally, as the licence demands."""
    if recipe.access == CREDENTIALED and not (recipe.system and recipe.system.local):
        raise PubmillError(
            f"{recipe.dataset} is a credentialed dataset: its text must not be sent to a service of others, "
            "such as a hosted language model (physionet's rule). If it stays on machines of your own, say "
            "so: `--local` of `pubmill inputs`, and `local: true` in the statement about the system"
        )


def read_submission(
    path: Path, recipe: SubmissionRecipe, examples: Sequence[Example], datasets: Path | None = None
) -> Submission:
    """Read a file of predictions completely, or raise a `PubmillError` that says why it is refused.
    `datasets`: the folder of converted datasets, among which another variant is recognised by its ids. For a
    dataset that isn't public, no message has text of the file."""
    check_access(recipe)
    with withholding(recipe.access != PUBLIC):
        try:
            normaliser = Normaliser(recipe)
            form, rows = read_rows(path, examples, normaliser)
            if not rows:
                raise PubmillError("no predictions in it")
            for row in rows:  # JSON may have half of a surrogate pair as an escape
                check_characters(json.dumps([row.id, row.value, row.beside], ensure_ascii=False), row.where)
            matched = match(rows, examples, recipe, lambda ids: _variant_of(ids, recipe, datasets))
            lines = normaliser.rows(matched, examples)
            return Submission(form=form, lines=lines, reading=normaliser.reading)
        except PubmillError as error:
            prefix = "" if str(error).startswith(str(path)) else f"{path}: "
            raise PubmillError(f"{prefix}{error}{_order_hint(path, examples, recipe)}") from None
        except Exception as error:
            if recipe.access == PUBLIC:
                raise
            place = traceback.extract_tb(error.__traceback__)[-1]
            raise PubmillError(
                f"{path}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}; its message "
                "is withheld, as it may contain licensed text"
            ) from None


def _order_hint(path: Path, examples: Sequence[Example], recipe: SubmissionRecipe) -> str:
    """Return what to do if a refused file has predictions in the order of the export."""
    if recipe.order or not path.is_file() or path.name.endswith(ARCHIVES):
        return ""
    try:
        text = read_text(path)
        rows = ordered_form.read(text, examples, recipe, "")
        # lines of any kind are as many as the examples by chance
        if not text.lstrip().startswith(("[", "{")):
            Normaliser(recipe).rows(rows, examples)
    except PubmillError:
        return ""
    may_have_ids = any(isinstance(row.value, dict) or "\t" in str(row.value) for row in rows)
    if may_have_ids or tsv_form.is_csv(text.partition("\n")[0]):
        return ""
    return ". If its predictions stand in the order of `pubmill export`, add `--order export`"


def _variant_of(ids: set[str], recipe: SubmissionRecipe, datasets: Path | None) -> str | None:
    """Return another variant of the corpus, converted beside the dataset, that has exactly these ids."""
    base = recipe.dataset.partition("@")[0]
    for path in sorted(datasets.glob(f"{base}*/{CARD}")) if datasets else ():
        other = path.parent.name
        if other != recipe.dataset and other.partition("@")[0] == base:
            card = read_json(path)
            examples = path.with_name(f"{split_of(card['splits'])}.jsonl.gz")
            if {example.id for example in read_examples(examples, KINDS[card["kind"]])} == ids:
                return other
    return None


def _comparable(line: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a line of predictions that a copy must share: all but `SUBWORDS`."""
    return {name: value for name, value in line.items() if name != SUBWORDS}


def _is_copy(own: Mapping[str, Mapping[str, object]], path: Path) -> bool:
    """Return whether a file has exactly these predictions, by id; it is read up to the first difference."""
    number = 0
    for number, line in enumerate(read_jsonl_gz(path), 1):  # noqa: B007 (used below)
        if not isinstance(line, dict) or own.get(line.get("id", "")) != _comparable(line):
            return False
    return number == len(own)


def copied_from(submission: Submission, others: Iterable[Path]) -> Path | None:
    """Return the file among others that has exactly these predictions; equal ones for every example are no
    copy."""
    if is_constant(submission.lines):
        return None
    own = {line["id"]: _comparable(line) for line in submission.lines}
    return next((other for other in others if _is_copy(own, other)), None)


def runs_on(results: Path, dataset: str) -> list[Path]:
    """Return the predictions of all final runs on a dataset."""
    return sorted(results.glob(RELATIVE.final(RunKey("*", "*", dataset, "*"), "*", PREDICTIONS)))


def read_mapping(path: Path | None) -> dict[str, str | None]:
    """Read a mapping of answers, labels or types to labels of the dataset, or null; no file is an empty
    mapping."""
    mapping = read_json(path) if path else {}
    if not isinstance(mapping, dict) or not all(isinstance(one, str | None) for one in mapping.values()):
        raise PubmillError(
            f"{path}: expected a JSON object: answer, label or type -> label of the dataset, or null, which "
            "leaves a type out"
        )
    return mapping
