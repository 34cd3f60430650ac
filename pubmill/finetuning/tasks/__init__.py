"""The kinds of tasks, by the kind of their examples."""

from typing import Any

from pubmill.finetuning.tasks.base import Task
from pubmill.finetuning.tasks.tokens import Tokens

TASKS: dict[str, type[Task[Any]]] = {"tokens": Tokens}
"""`FinetuningRecipe.task` -> its class."""
