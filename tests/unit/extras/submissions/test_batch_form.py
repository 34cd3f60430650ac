"""Output files of batches of hosted models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.submissions.batch_form import read
from tests.unit.extras.submissions import toy_datasets as toy


def _chat(name: str, text: str, end: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    response = {"status_code": 200, "body": {"object": "chat.completion", "choices": [choice]}}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def _response(name: str, text: str, end: str = "") -> dict[str, Any]:
    message = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    body = {
        "output": [{"type": "reasoning"}, message],
        "incomplete_details": {"reason": end} if end else None,
    }
    return {"custom_id": name, "response": {"status_code": 200, "body": body}}


def _anthropic(name: str, text: str, end: str = "end_turn") -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
    return {
        "custom_id": name,
        "result": {"type": "succeeded", "message": {"content": content, "stop_reason": end}},
    }


def _gemini(name: str, text: str, end: str = "STOP") -> dict[str, Any]:
    parts = [{"text": "hm", "thought": True}, {"text": text}]
    return {"key": name, "response": {"candidates": [{"content": {"parts": parts}, "finishReason": end}]}}


FORMS: dict[str, Callable[..., dict[str, Any]]] = {
    "length": _chat, "max_output_tokens": _response, "max_tokens": _anthropic, "MAX_TOKENS": _gemini,
}  # fmt: skip
"""Reason for an answer that was cut off -> form."""


@pytest.mark.parametrize("cut", FORMS)
def test_answers_of_a_batch_are_scored(cut: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    rows = [FORMS[cut](one.id, str(toy.gold(one))) for one in toy.examples("rel")]
    rows[1] = FORMS[cut](rows[1].get("custom_id", rows[1].get("key")), "activates because", cut)
    content = "".join(json.dumps(row) + "\n" for row in reversed(rows))
    found = toy.score(tmp_path, "rel", content, mapping={label: label for label in toy.LABELS})
    assert found.submission.form == "batch" and found.metrics["accuracy"] == pytest.approx(11 / 12)
    assert found.summary()["read_by_rule"] == {"cut": 1}
    assert "1 of 12 answers were cut off at the limit of their length" in found.left_aside()


@pytest.mark.parametrize(
    "row",
    [
        {"custom_id": "7", "response": None, "error": {"code": "expired"}},
        {"custom_id": "7", "response": {"status_code": 500, "body": {"error": {"message": "x"}}}},
        {"custom_id": "7", "result": {"type": "errored", "error": {"type": "overloaded"}}},
        {"key": "7", "response": {"candidates": []}},
        {"key": "7", "response": {"candidates": [{"finishReason": "SAFETY"}]}},
        _chat("7", "a") | {"response": {"body": {"choices": [{}, {}]}}},
        _chat("7", "a") | {"response": [3]},
        _chat("7", None),  # type: ignore[arg-type]
    ],
)
def test_a_failed_request_is_refused_with_its_id(row: dict[str, Any]) -> None:
    with pytest.raises(PubmillError, match=r"f:2: 7: .*Nothing was scored"):
        list(read([json.dumps(_chat("6", "a")), json.dumps(row)], "f"))


@pytest.mark.parametrize("line", ['{"id": "7"}', '{"custom_id": 7}', "[3]", '{"key": "7"}'])
def test_other_lines_are_refused(line: str) -> None:
    with pytest.raises(PubmillError, match="f:1: expected an"):
        list(read([line], "f"))
