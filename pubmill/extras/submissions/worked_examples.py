"""Chat requests for the examples of a dataset: its prompt, after worked examples of its training split."""

import random
from collections.abc import Sequence
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.examples.prompts import Wording, prompt_of, right_answer
from pubmill.extras.submissions.json_answers import asked_as_json, response_format, right_json
from pubmill.recipes.submissions import Asking


def requests_for(
    examples: Sequence[Example], train: Sequence[Example], wording: Wording, asking: Asking, schema: Any
) -> dict[str, dict[str, Any]]:
    """Return id -> chat request for some examples; all have the same worked examples. `schema`: that of the
    answers, if they are asked for as JSON."""
    if asking.shots > len(train):
        raise PubmillError(f"--shots {asking.shots}: the training split has {len(train)} examples")
    shots = random.Random(asking.seed).sample(list(train), asking.shots)
    typed, schema = bool(wording.words["types"]), schema if asking.structured else None
    before = [message for shot in shots for message in _turns(shot, wording, typed, schema)]
    settings = {
        "temperature": asking.temperature,
        "seed": asking.seed,
        "max_tokens": asking.length,
        **({"response_format": response_format(schema)} if schema else {}),
        **({"logprobs": True} if asking.logprobs else {}),
    }
    return {
        one.id: {"model": asking.model, "messages": [*before, _question(one, wording, schema)], **settings}
        for one in examples
    }


def _question(example: Any, wording: Wording, schema: Any) -> dict[str, str]:
    prompt = prompt_of(example, wording)
    return {"role": "user", "content": asked_as_json(prompt, schema) if schema else prompt}


def _turns(example: Any, wording: Wording, typed: bool, schema: Any) -> list[dict[str, str]]:
    answer = right_json(example, typed) if schema else right_answer(example, typed)
    return [_question(example, wording, schema), {"role": "assistant", "content": answer}]
