"""Tokens and cut answers of a prompted language model, as its server counts them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.formats.json_text import parse_row
from pubmill.metrics.records import ASKED_TOKENS


def tokens_of(body: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens of a request and of its answer, as the server counts them; 0 if it does not."""
    usage = body.get("usage") or {}
    return usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0


def asked_counts(path: Path) -> dict[str, int]:
    """Return `counts_of` the answers in a file, a JSON line for each."""
    lines = enumerate(path.read_text(encoding="ascii").splitlines(), 1)
    return counts_of([parse_row(line, f"{path}:{number}")["response"]["body"] for number, line in lines])


def counts_of(bodies: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the tokens of answers, read and written, and how many of them were cut off."""
    return {
        **{name: sum(tokens_of(body)[part] for body in bodies) for part, name in enumerate(ASKED_TOKENS)},
        "cut_answers": sum(body["choices"][0].get("finish_reason") == "length" for body in bodies),
    }
