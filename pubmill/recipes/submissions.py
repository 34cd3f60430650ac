"""Recipes of submissions: predictions that another system made."""

from dataclasses import field
from typing import Literal

from pubmill.recipes.datasets import Access
from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.recipe_types import Kind, StrictRecipe


class System(StrictRecipe):
    """The statement of a submission's author about the system that predicted; nothing of it is checked here.

    - `name`, `version`: those of the system, for example of a language model.
    - `url`, `prompt`: where it is described, and the prompt that it got; at least one of them.
    - `local`: whether it ran on a machine of the author's own, so that the inputs were sent to nobody.
    """

    name: str
    version: str
    url: str | None = None
    prompt: str | None = None
    local: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.version.strip():
            raise ValueError("`name` and `version` of the system must not be empty")
        if not (self.url or self.prompt):
            raise ValueError("give `url` or `prompt` of the system, so that readers know what predicted")


class Engine(StrictRecipe):
    """What answers, as the study's author states it; answers differ between engines (arXiv 2605.19537).

    - `name`, `version`: those of the program, such as vllm 0.11.0.
    - `quantisation`: of the weights, such as none, awq or Q4_K_M.
    - `batching`: how many requests the server joins, or with which settings.
    """

    name: str
    version: str
    quantisation: str
    batching: str | None = None

    def stated(self) -> str:
        """Return the engine as part of a sentence."""
        batching = f", batching {self.batching}" if self.batching else ""
        return f", on {self.name} {self.version}, quantisation {self.quantisation}{batching}"


class Budget(StrictRecipe):
    """Limits on the prompting of a model with a dataset and seed, over all calls; None: no limit.

    - `requests`: number of answers.
    - `tokens`: read and written, as the server counts them; the last requests may exceed it.
    """

    requests: int | None = None
    tokens: int | None = None


class Price(StrictRecipe):
    """What a server charges for a million tokens.

    - `prompt`: for those that it reads.
    - `answer`: for those that it writes.
    - `currency`: that of both.
    """

    prompt: float
    answer: float
    currency: str

    def stated(self) -> str:
        """Return the price as part of a sentence."""
        rates = f"{self.prompt:g} and {self.answer:g} {self.currency}"
        return f", at {rates} for a million tokens read and written"

    def of(self, prompt_tokens: int, answer_tokens: int) -> float:
        """Return the cost of these tokens, in `currency`."""
        return (prompt_tokens * self.prompt + answer_tokens * self.answer) / 1e6

    def in_words(self, prompt_tokens: int, answer_tokens: int) -> str:
        """Return the cost of these tokens as text: `1.25 USD`."""
        return f"{self.of(prompt_tokens, answer_tokens):.2f} {self.currency}"


class SuppliedRecipe(StrictRecipe):
    """How to read a model's predictions that a study shows; the rest is in the dataset's card. `asked`: they
    are answers to prompts, in which a label stands for itself; `price`: what their server charges."""

    system: System
    mapping: dict[str, str | None] = field(default_factory=dict)
    dummies: Dummies | None = None
    asked: bool = False
    price: Price | None = None


class SubmissionRecipe(StrictRecipe):
    """What decides how a file of predictions is read.

    - `split`: the predicted split of the dataset; `metric`: its main metric; `labels`: all its labels, or
      types of mentions ("" if mentions have no type); `dummies`: those of its published form.
    - `form`: one of `pubmill.predictions.forms.FORMS`; null: recognised from the content.
    - `order`: `export`: predictions stand in the order of the examples, and have neither ids nor texts.
    - `mapping`: answer, label or type of the system -> that of the dataset; null, or a label "" that the
      dataset lacks, leaves a type out.
    - `partial`: examples without a prediction are empty or wrong, instead of a reason to refuse the file.
    - `asked`: they are answers to this project's prompts: what cannot be read counts as wrong.
    """

    dataset: str
    kind: Kind
    access: Access
    split: str
    metric: str
    negative: str | None = None
    labels: tuple[str, ...] = ()
    dummies: Dummies | None = None
    form: str | None = None
    order: Literal["export"] | None = None
    mapping: dict[str, str | None] = field(default_factory=dict)
    partial: bool = False
    asked: bool = False
    system: System | None = None
