"""Labels of a submission: mapped to those of the dataset, and refused with the reason if they are unknown."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from pubmill.errors import PubmillError
from pubmill.messages.quotations import show
from pubmill.messages.wording import counted, nearest
from pubmill.predictions.alignment import INSIDE, LACKS, Lost
from pubmill.predictions.free_answers import plain_answer
from pubmill.recipes.reading import as_json
from pubmill.recipes.submissions import SubmissionRecipe

UNMAPPED = "(unmapped)"
"""Label of an answer without a mapping: no gold has it, so it counts as wrong."""
ONE_ANSWER = ("sequence", "regression", "span")
"""Kinds whose examples always have an answer."""
LISTED = 12
"""Labels that a message names."""


@dataclass
class LeftAside:
    """What reading a submission has left aside: spans that no labels of words express, and free strings
    without a mapping (place and string). `spans`, `answers`: how many there were of each. `labels`: how often
    each label occurs; `unknown`: the first place of each that the dataset lacks; `dropped`: how often each
    occurs that is mapped to nothing. `missing`: number of examples without a prediction.
    `by_rule`: the number of answers to which each rule of `free_answers` applied."""

    lost: list[Lost] = field(default_factory=list)
    spans: int = 0
    answers: int = 0
    unmapped: list[tuple[str, str]] = field(default_factory=list)
    labels: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, str] = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)


class MappedLabels:
    """The labels of a dataset and of a submission. `labels`: those of the dataset; `answers`: free string, as
    mappings compare it -> label; `reading`: what was read of the submission."""

    def __init__(self, recipe: SubmissionRecipe) -> None:
        self.recipe = recipe
        self.reading = LeftAside()
        self.labels = set(recipe.labels)
        self.answers = {plain_answer(answer): label for answer, label in recipe.mapping.items()}
        allowed = self.labels | (set() if recipe.kind in ONE_ANSWER else {"", None})
        wrong = sorted(str(label) for label in set(recipe.mapping.values()) - allowed)
        if wrong and recipe.kind not in ("regression", "span"):
            raise PubmillError(
                f"the mapping names labels that the dataset lacks: {', '.join(map(show, wrong))}; "
                f"its labels are {', '.join(sorted(self.labels)) or 'without type'}"
            )
        if len(self.answers) < len(recipe.mapping):
            raise PubmillError("the mapping has two answers that differ only by case or marks around them")

    def check_alignment(self) -> None:
        """Check that most spans fit the words: if not, they count something else than characters, or the
        texts are those of another variant."""
        reasons = {
            INSIDE: "spans begin or end inside of words; do they count characters of the text given in "
            "`pubmill inputs`, from 0?",
            LACKS: "spans stand in a text that lacks words of the dataset: another variant of it?",
        }
        for why, said in reasons.items():
            lost = [one for one in self.reading.lost if one.why == why]
            if 2 * len(lost) > self.reading.spans:
                count = f"{len(lost)} of {self.reading.spans}"
                raise PubmillError(f"{lost[0].where}: {count} {said} Nothing was scored")

    def check_answers(self) -> None:
        """Check that most free strings could be read: if not, a score would say nothing of the system."""
        unmapped, answers = self.reading.unmapped, self.reading.answers
        if 2 * len(unmapped) > answers:
            (place, first), *_ = unmapped
            known = ", ".join(map(show, self.recipe.mapping)) or "none"
            fault, advice = "have no mapping", "Declare those that the system gave"
            if self.recipe.kind in ("tokens", "mentions"):
                fault = "have no mapping and name no mention of their texts"
                advice = (
                    "Write mentions as they stand in the text, each with its type if there are several, and "
                    "declare answers such as `none`"
                )
            raise PubmillError(
                f"{place}: {len(unmapped)} of {answers} answers {fault}, the first of them "
                f"{show(' '.join(first.split()))}; declared answers: {known}. {advice}. Nothing was scored"
            )

    def refuse_unknown_labels(self) -> None:
        if not self.reading.unknown:
            return
        label, place = next(iter(self.reading.unknown.items()))
        unknown = list(self.reading.unknown)[:LISTED]
        labels = nearest(label, self.labels)[:LISTED]
        used = [one for one, _ in self.reading.labels.most_common(LISTED)]
        example = as_json({one: self._nearest(one) for one in unknown})
        nothing = "" if self.recipe.kind in ONE_ANSWER else ", in which null leaves a label out"
        raise PubmillError(
            f"{place}: {counted(len(self.reading.unknown), 'label')} that the dataset lacks: "
            f"{_listed(unknown)}; it has {_listed(labels) or 'none'}; the file has {_listed(used)}. Correct "
            f"them, or say what they stand for in a file of JSON for `--mapping`, such as {show(example)}"
            f"{nothing}. Nothing was scored"
        )

    def _nearest(self, label: str) -> str | None:
        """Return the dataset's label that a label could stand for, to be shown in a mapping."""
        if len(self.labels) == 1:
            is_it = len(self.reading.unknown) == 1 or _letters(label) in _letters(self.recipe.dataset)
            return next(iter(self.labels)) if is_it else None
        letters = {_letters(one): one for one in self.labels}
        if _letters(label) in letters:
            return letters[_letters(label)]
        certain = self.recipe.kind in ONE_ANSWER  # whose labels cannot be left out
        found = nearest(label, self.labels) if certain else get_close_matches(label, self.labels)
        return next(iter(found), None)

    def known(self, label: str, where: str) -> str | None:
        """Return a label or type of the dataset, None if it is mapped to nothing; note one that the dataset
        lacks."""
        if label == UNMAPPED:
            return label
        mapped = self.recipe.mapping.get(label, label)
        if label in self.recipe.mapping and self.is_nothing(mapped):
            self.reading.dropped[label] += 1
            return None
        self.reading.labels[label] += 1
        if mapped not in self.labels:
            self.reading.unknown.setdefault(label, where)
        return mapped

    def is_nothing(self, label: str | None) -> bool:
        """Return whether a mapping to this label leaves out what is mapped."""
        return label is None or (label == "" and "" not in self.labels)


def _letters(label: str) -> str:
    return "".join(filter(str.isalnum, label.casefold()))


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(show(" ".join(one.split())) if one else "mentions without a type" for one in labels)
