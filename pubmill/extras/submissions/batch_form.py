"""Output files of batches of hosted language models: a JSON line for each request, with its own id.

The forms are those of OpenAI (chat completions and responses; others have the same), Anthropic's message
batches, and Gemini's.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.submissions.rows import PredictionRow
from pubmill.formats.json_text import parse_row
from pubmill.messages.quotations import show

CUT = ("length", "max_tokens", "MAX_TOKENS", "max_output_tokens")
"""Reasons for the end of an answer that is not whole."""


class _Reply(NamedTuple):
    text: str
    end: Any


def is_batch(line: Any) -> bool:
    """Return whether a JSON value is the answer to a request of a batch."""
    return isinstance(line, dict) and ("custom_id" in line or {"key", "response"} <= line.keys())


def read(lines: Sequence[str], where: str) -> Iterator[PredictionRow]:
    """Yield the answer to each request; a `PubmillError` for one that failed or has another form."""
    for number, line in enumerate(lines, 1):
        place = f"{where}:{number}"
        row = parse_row(line, place)
        name = row.get("custom_id", row.get("key"))
        if not is_batch(row) or not isinstance(name, str):
            raise PubmillError(f"{place}: expected an answer of a batch, with its custom_id or key")
        reply = _answer(row, f"{place}: {show(name)}")
        rule = "cut" if reply.end in CUT else None
        yield PredictionRow(where=place, id=name, key="output", value=reply.text, rule=rule)


def _answer(row: dict[str, Any], where: str) -> _Reply:
    try:
        reply = _of_anthropic(row) if "result" in row else _of_response(row)
    except (KeyError, TypeError, IndexError, AttributeError):
        raise PubmillError(
            f"{where}: no answer in it, or of a form that is not known; if the request failed, ask again, or "
            "give the answers as JSON lines of id and output. Nothing was scored"
        ) from None
    if not isinstance(reply.text, str):
        raise PubmillError(f"{where}: the answer is no text. Nothing was scored")
    return reply


def _of_anthropic(row: dict[str, Any]) -> _Reply:
    message = row["result"]["message"]
    parts = [part["text"] for part in message["content"] if part["type"] == "text"]
    return _Reply("".join(parts), message.get("stop_reason"))


def _of_response(row: dict[str, Any]) -> _Reply:
    response = row["response"]
    if "candidates" in response:
        candidate = _only(response["candidates"])
        parts = [part["text"] for part in candidate["content"]["parts"] if not part.get("thought")]
        return _Reply("".join(parts), candidate.get("finishReason"))
    body = response["body"]
    if "choices" in body:
        choice = _only(body["choices"])
        return _Reply(choice["message"]["content"], choice.get("finish_reason"))
    messages = [one for one in body["output"] if one["type"] == "message"]
    parts = [part["text"] for one in messages for part in one["content"] if part["type"] == "output_text"]
    return _Reply("".join(parts), (body.get("incomplete_details") or {}).get("reason"))


def _only(answers: list[Any]) -> Any:
    """Return the answer to a request; several are none, as nothing says which one counts."""
    if len(answers) != 1:
        raise IndexError
    return answers[0]
