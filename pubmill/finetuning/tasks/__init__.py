"""Kinds of tasks, by the kind of their examples."""

from typing import Any

from pubmill.finetuning.tasks.concept_pairs import ConceptPairs
from pubmill.finetuning.tasks.nested_mentions import NestedMentions
from pubmill.finetuning.tasks.span import Span
from pubmill.finetuning.tasks.task import Task
from pubmill.finetuning.tasks.texts import Multilabel, Regression, Sequences
from pubmill.finetuning.tasks.tokens import Tokens

TASKS: dict[str, type[Task[Any]]] = {
    "tokens": Tokens,
    "sequence": Sequences,
    "multilabel": Multilabel,
    "regression": Regression,
    "span": Span,
    "relations": ConceptPairs,
    "mentions": NestedMentions,
}
"""`FinetuningRecipe.task` -> its class."""
