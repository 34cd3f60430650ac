"""Chat requests for the examples of a dataset: its prompt, after worked examples of its training split."""

import random
from collections.abc import Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.examples.prompts import Wording, prompt_of, right_answer
from pubmill.recipes.submissions import Asking


def requests_for(
    examples: Sequence[Example], train: Sequence[Example], wording: Wording, asking: Asking
) -> dict[str, dict[str, Any]]:
    """Return id -> chat request for some examples; all have the same worked examples."""
    if asking.shots > len(train):
        raise PubmillError(f"--shots {asking.shots}: the training split has {len(train)} examples")
    shots = random.Random(asking.seed).sample(list(train), asking.shots)
    before = [message for shot in shots for message in _turns(shot, wording)]
    return {
        one.id: {
            "model": asking.model,
            "messages": [*before, {"role": "user", "content": prompt_of(one, wording)}],
            "temperature": asking.temperature,
            "seed": asking.seed,
            "max_tokens": asking.length,
        }
        for one in examples
    }


def _turns(example: Any, wording: Wording) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": prompt_of(example, wording)},
        {"role": "assistant", "content": right_answer(example, typed=bool(wording.words["types"]))},
    ]
