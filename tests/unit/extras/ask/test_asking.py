"""Language models behind a local server that is slow, wrong, truncating, rate-limited or down."""

import json
import time
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jsonschema
import pytest
import requests

from pubmill.errors import PubmillError
from pubmill.examples.kinds import write_examples
from pubmill.examples.prompts import right_answer, wording_of
from pubmill.extras.ask import chat_server
from pubmill.extras.ask.ask_recipes import Asking, AskRecipe, PublishedText
from pubmill.extras.ask.asked_answers import ask_all, read_answers, request_digest
from pubmill.extras.ask.asking import (
    AskedRecord,
    ask_dataset,
    requests_for,
    right_json,
    schema_of,
    system_of,
    with_whole_prompt,
)
from pubmill.extras.ask.chat_server import KEY, LONGEST_PAUSE, PAUSES, ChatServer
from pubmill.predictions.free_answers import asked_counts
from pubmill.predictions.predictions import answers_to_labels
from pubmill.predictions.scores import score_submission
from pubmill.predictions.supplied import report, supply
from pubmill.recipes.reading import as_json, as_values
from pubmill.recipes.submissions import Budget, SuppliedRecipe
from pubmill.storage.files import read_json, read_jsonl_gz
from tests.chat_stub import ChatStub, Fault, serving
from tests.unit.predictions import toy_datasets
from tests.unit.predictions.test_programs import checkout as checkout
from tests.unit.predictions.test_programs import run
from tests.unit.programs import run_program

TASKS = {
    "ner": "ner", "rel": "relation", "doc": "classification", "sim": "similarity", "qa": "factoid",
}  # fmt: skip
ASKING = Asking(model="tiny")
REQUESTS = {f"x{number}": {"model": "m", "messages": [{"content": f"p{number}"}]} for number in range(12)}


def recipe_for(name: str, **changes: Any) -> AskRecipe:
    dummies = toy_datasets.DUMMIES if name == "rel" else None
    prompt = toy_datasets.TEMPLATES[TASKS[name]]
    return AskRecipe(asking=replace(ASKING, **changes), task=TASKS[name], prompt=prompt, dummies=dummies)


def server_at(stub: ChatStub) -> tuple[ChatServer, list[float]]:
    """Return a client that does not wait, and what it would have waited."""
    waited = list[float]()
    return ChatServer(url=stub.url, pause=waited.append), waited


def ask_toy(name: str, results: Path, stub: ChatStub, **changes: Any) -> tuple[AskedRecord, Path]:
    folder, store = results / "datasets" / name, results / f"{name}.jsonl"
    server, sent = server_at(stub)[0], results / "requests.jsonl.gz"
    record, left = ask_dataset(recipe_for(name, **changes), folder, store, sent, server=server, at_once=4)
    assert left == 0
    return record, store


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("name", TASKS)
def test_right_answers_are_read_as_the_gold(name: str, structured: bool, tmp_path: Path) -> None:
    toy_datasets.make(tmp_path, name)
    reading = toy_datasets.recipe(tmp_path, name)
    wording = wording_of(recipe_for(name), reading.labels, recipe_for(name).prompt)
    examples = toy_datasets.examples(name)
    schema, right = schema_of(reading.kind, reading.labels), right_json if structured else right_answer
    prompts = requests_for(examples, [], wording, replace(ASKING, structured=structured), schema)
    assert all(("response_format" in one) is structured for one in prompts.values())
    asked = [one["messages"][-1]["content"] for one in prompts.values()]
    assert all(
        (f"Answer with JSON of this schema: {json.dumps(schema)}" in one) is structured for one in asked
    )
    gold = {
        prompts[one.id]["messages"][-1]["content"]: right(one, bool(wording.words["types"]))
        for one in examples
    }
    for answer in gold.values() if structured else ():
        jsonschema.validate(json.loads(answer), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"other": 1}, schema)
    with serving(ChatStub(gold.__getitem__)) as stub:
        record, store = ask_toy(name, tmp_path, stub, structured=structured)
    assert set(stub.asked.values()) == {1} and len(stub.asked) == record.answers == 12
    found = score_submission(store, replace(reading, mapping=answers_to_labels(reading)), tmp_path)
    assert found.metrics[toy_datasets.METRICS[name]] == pytest.approx(1.0)
    assert (record.prompt_tokens, record.models, record.cut) == (120, {"tiny": 12}, 0)
    assert system_of(record).local and system_of(record).version == "tiny, stub-1"


def test_a_published_prompt_is_asked_whole_or_not_at_all(tmp_path: Path) -> None:
    recipe = replace(recipe_for("doc"), published=PublishedText(place="<<>>", sha256="0" * 64))
    with pytest.raises(PubmillError, match=r"its file is not given \(--prompt\)"):
        with_whole_prompt(recipe, None)
    (tmp_path / "theirs.txt").write_text("Say. <<>> Answer:")
    assert with_whole_prompt(recipe, tmp_path / "theirs.txt").prompt == f"Say. {recipe.prompt} Answer:"
    assert with_whole_prompt(recipe_for("doc"), None) == recipe_for("doc")


def test_worked_examples_are_of_train_and_no_gold_of_test_is_sent(tmp_path: Path) -> None:
    folder = toy_datasets.make(tmp_path, "rel")
    train = [replace(one, id=f"train-{one.id}", label="blocks") for one in toy_datasets.examples("rel")]  # type: ignore[call-arg]
    write_examples(folder / "train.jsonl.gz", train)
    with serving(ChatStub(lambda prompt: "none")) as stub:
        ask_toy("rel", tmp_path, stub, shots=3, seed=2)
    said = {message["content"] for one in stub.messages for message in one if message["role"] == "assistant"}
    assert said == {"blocks"} and {len(one) for one in stub.messages} == {7}
    assert len({json.dumps(one[:-1]) for one in stub.messages}) == 1
    with serving(ChatStub(lambda prompt: "none")) as other:
        (tmp_path / "rel.jsonl").unlink()
        ask_toy("rel", tmp_path, other, shots=3, seed=3)
    assert other.messages[0][:-1] != stub.messages[0][:-1]


FAULTS: dict[str, list[Fault]] = {
    "rate-limited": [429, 429], "busy": [503, 500, 529], "wrong": ["garbage"], "truncating": ["cut"],
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_may_succeed_later_is_asked_again(name: str, tmp_path: Path) -> None:
    with serving(ChatStub(lambda prompt: "yes", FAULTS[name])) as stub:
        server, waited = server_at(stub)
        assert ask_all(REQUESTS, server, tmp_path / "a.jsonl", 1, Budget()) == 0
    assert sum(stub.asked.values()) == 12 + len(FAULTS[name])
    assert waited == list(PAUSES[: len(FAULTS[name])])
    assert list(read_answers(tmp_path / "a.jsonl", REQUESTS)) == list(REQUESTS)


def test_a_server_that_stays_down_ends_the_command_with_its_answers_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with serving(ChatStub(lambda prompt: "yes")) as stub:
        server, waited = server_at(stub)
        assert ask_all(REQUESTS, server, path, 2, Budget(requests=5)) == 7
    with pytest.raises(PubmillError, match=r"no connection, 7 times\. Start the server"):
        ask_all(REQUESTS, server, path, 1, Budget())
    assert waited == list(PAUSES) and len(read_answers(path, REQUESTS)) == 5


def test_a_refused_request_ends_the_command_and_no_other_begins(tmp_path: Path) -> None:
    with serving(ChatStub(lambda prompt: "yes", [200, 200, 401])) as stub:
        with pytest.raises(PubmillError, match=f"status 401; set {KEY}"):
            ask_all(REQUESTS, server_at(stub)[0], tmp_path / "a.jsonl", 1, Budget())
        assert sum(stub.asked.values()) <= 4


def test_so_many_requests_are_under_way_and_no_more(tmp_path: Path) -> None:
    def slow(prompt: str) -> str:
        time.sleep(0.05)
        return "yes"

    with serving(ChatStub(slow)) as stub:
        ask_all(REQUESTS, server_at(stub)[0], tmp_path / "a.jsonl", 3, Budget())
    assert stub.most_at_once == 3


def test_answers_of_earlier_calls_count_in_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with serving(ChatStub(lambda prompt: "yes")) as stub:
        for budget, left in (
            (Budget(requests=5), 7), (Budget(requests=5), 7), (Budget(tokens=55), 7),
            (Budget(requests=6, tokens=1000), 6), (Budget(tokens=100), 2), (Budget(), 0),
        ):  # fmt: skip
            assert ask_all(REQUESTS, server_at(stub)[0], path, 1, budget) == left
    assert set(stub.asked.values()) == {1}
    assert asked_counts(path) == {"prompt_tokens": 120, "answer_tokens": 12, "cut_answers": 0}


def test_a_job_that_has_spent_its_budget_keeps_its_answers_and_goes_on_with_a_larger_one(
    tmp_path: Path,
) -> None:
    output = tmp_path / "answers/doc.jsonl"
    words = ["--dataset", toy_datasets.make(tmp_path, "doc"), "--output", output, "--at-once", 1]
    words += ["--recipe", as_json(as_values(recipe_for("doc")))]
    with serving(ChatStub(lambda prompt: "none")) as stub:
        words += ["--server", stub.url, "--budget"]
        spent = "the budget is spent: 5 answers, 50 and 5 tokens; 7 examples are not asked"
        with pytest.raises(SystemExit, match=spent):
            run_program("ask", *words, '{"requests": 5}')
        assert not output.exists()
        run_program("ask", *words, '{"requests": 12}')
    assert len(output.read_text().splitlines()) == 12 and set(stub.asked.values()) == {1}


def test_every_request_is_stored_under_the_digest_that_its_answer_names(tmp_path: Path) -> None:
    toy_datasets.make(tmp_path, "doc")
    with serving(ChatStub(lambda prompt: "none")) as stub:
        _, store = ask_toy("doc", tmp_path, stub)
    sent = {row["custom_id"]: row for row in read_jsonl_gz(tmp_path / "requests.jsonl.gz")}
    answers = [json.loads(line) for line in store.read_text().splitlines()]
    assert [sent[one["custom_id"]]["request"] for one in answers] == [one["request"] for one in answers]
    assert [request_digest(one["body"]) for one in sent.values()] == [one["request"] for one in answers]
    assert {one["body"]["messages"][-1]["content"] for one in sent.values()} == set(stub.asked)


def test_a_line_that_a_kill_cut_off_is_asked_again_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with serving(ChatStub(lambda prompt: "yes")) as stub:
        ask_all(REQUESTS, server_at(stub)[0], path, 1, Budget())
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rfind(b"\n", 0, -1) + 20])
    with serving(ChatStub(lambda prompt: "yes")) as again:
        ask_all(REQUESTS, server_at(again)[0], path, 4, Budget())
    assert list(again.asked) == ["p11"] and path.read_bytes() == whole
    other = {name: request | {"temperature": 1.0} for name, request in REQUESTS.items()}
    with pytest.raises(PubmillError, match=r"a\.jsonl:1 is the answer to another request"):
        read_answers(path, other)


def test_an_answer_is_on_the_disk_before_the_next_request(tmp_path: Path) -> None:
    """So a killed command continues without asking twice."""
    kept = list[int]()

    def answer(prompt: str) -> str:
        kept.append((tmp_path / "a.jsonl").read_bytes().count(b"\n"))
        return "yes"

    with serving(ChatStub(answer)) as stub:
        ask_all(REQUESTS, server_at(stub)[0], tmp_path / "a.jsonl", 1, Budget())
    assert kept == list(range(12))


def test_any_text_may_be_an_answer(tmp_path: Path) -> None:
    path, odd = tmp_path / "a.jsonl", "a\u2028b\x85c\ud83dd"
    with serving(ChatStub(lambda prompt: odd + "\n")) as stub:
        assert ask_all(REQUESTS, server_at(stub)[0], path, 2, Budget()) == 0
    found = read_answers(path, REQUESTS)["x3"]["response"]["body"]["choices"][0]["message"]["content"]
    assert found.strip() == odd


def test_credentialed_text_is_sent_to_no_hosted_server_without_a_licence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = toy_datasets.make(tmp_path, "ner", access="credentialed")
    hosted, sent = ChatServer(url="https://api.example.org/v1"), tmp_path / "requests.jsonl.gz"
    given = recipe_for("ner"), folder, tmp_path / "a.jsonl", sent
    with pytest.raises(PubmillError, match="must not be sent to https://api.example.org"):
        ask_dataset(*given, server=hosted, at_once=1)
    assert not sent.exists()
    with serving(ChatStub(lambda prompt: "none")) as stub:
        server, _ = server_at(stub)
        monkeypatch.setattr(ChatServer, "is_hosted", True)
        record, left = ask_dataset(*given, server=server, at_once=4, licence="agreement 17")
    assert (left, record.hosted, record.licence) == (0, True, "agreement 17")


@pytest.mark.parametrize("name", ["ner", "rel", "doc", "qa"])
def test_answers_that_cannot_be_read_count_as_wrong_and_are_counted(name: str, tmp_path: Path) -> None:
    folder = toy_datasets.make(tmp_path, name)
    with serving(ChatStub(lambda prompt: "- Protein: nobody can say")) as stub:
        _, store = ask_toy(name, tmp_path, stub)
    recipe = SuppliedRecipe(system=toy_datasets.SYSTEM, dummies=recipe_for(name).dummies, asked=True)
    submission, reading = supply(recipe, store, folder, [])
    assert len(submission.lines) == 12
    if name != "qa":
        assert len(submission.reading.unmapped) == 12
        assert report(submission, reading, folder, "m", 1)["encoded"]["unmapped_answers"] == 12


def test_worked_examples_are_at_most_those_of_train() -> None:
    examples = toy_datasets.examples("doc")
    wording = wording_of(recipe_for("doc"), (), recipe_for("doc").prompt)
    made = requests_for(examples, examples[:2], wording, replace(ASKING, shots=2), None)
    assert [len(one["messages"]) for one in made.values()] == [5] * 12
    with pytest.raises(PubmillError, match=r"^--shots 3: the training split has 2 examples$"):
        requests_for(examples, examples[:2], wording, replace(ASKING, shots=3), None)


def test_answers_are_reported_as_they_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pubmill.extras.ask.asked_answers.REPORTED", -1.0)
    with serving(ChatStub(lambda prompt: "yes")) as stub:
        ask_all(REQUESTS, server_at(stub)[0], tmp_path / "a.jsonl", 1, Budget(requests=2))
    assert capsys.readouterr().err == "pubmill: 1 of 2 answers\npubmill: 2 of 2 answers\n"


URL = "http://localhost:8000/v1"


def answered(body: Any, status: int = 200, later: str | None = None) -> Mock:
    """Return a response, whose body may be an exception."""
    headers = {"Retry-After": later} if later is not None else {}
    return Mock(status_code=status, headers=headers, **{"json.side_effect": repeat(body)})


def asked(monkeypatch: pytest.MonkeyPatch, what: Any) -> tuple[str, list[float]]:
    """Return the message of a server that always does this, and what was waited for it."""
    waited = list[float]()
    monkeypatch.setattr(chat_server, "_session", lambda: Mock(**{"post.side_effect": repeat(what)}))
    with pytest.raises(PubmillError) as error:
        ChatServer(url=URL, pause=waited.append).answer({})
    return str(error.value), waited


def answer(content: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}}]}


BUSY = (408, 409, 425, 429, 500, 502, 503, 504, 529)
FORM = "an answer of another form than OpenAI's chat completions"
SERVER_FAULTS: dict[str, tuple[Any, str]] = {
    "time": (requests.ReadTimeout(), "no answer in time"),
    "connection in time": (requests.ConnectTimeout(), "no answer in time"),
    "connection": (requests.ConnectionError(), "no connection"),
    "broken off": (requests.exceptions.ChunkedEncodingError(), "the answer broke off"),
    **{f"{one}": (answered({}, one), f"status {one}") for one in BUSY},
    "no JSON": (answered(ValueError()), FORM), "no text": (answered(answer(None)), FORM),
    "parts": (answered(answer([{"text": "x"}])), FORM),
    "two answers": (answered({"choices": answer("x")["choices"] * 2}), FORM),
    "no answers": (answered({"choices": []}), FORM), "an error": (answered({"error": "x"}), FORM),
    "a list": (answered(["x"]), FORM),
}  # fmt: skip


@pytest.mark.parametrize("name", SERVER_FAULTS)
def test_a_fault_that_stays_is_named_after_all_attempts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    what, named = SERVER_FAULTS[name]
    said, waited = asked(monkeypatch, what)
    assert said.startswith(f"{URL}: {named}, {len(PAUSES) + 1} times. Start the server")
    assert waited == list(PAUSES)


@pytest.mark.parametrize(
    ("later", "first", "last"),
    [("3", 3.0, 32.0), ("0.5", 1.0, 32.0), ("-9", 1.0, 32.0), ("soon", 1.0, 32.0), ("", 1.0, 32.0),
     ("9999", LONGEST_PAUSE, LONGEST_PAUSE), (None, 1.0, 32.0)],
)  # fmt: skip
def test_a_server_says_when_to_come_again(
    later: str | None, first: float, last: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, waited = asked(monkeypatch, answered({}, 429, later))
    assert (waited[0], waited[-1]) == (first, last)


@pytest.mark.parametrize(("status", "hint"), [(400, ""), (401, "; set "), (403, "; set "), (302, "")])
def test_a_refusal_is_not_asked_again(status: int, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, waited = asked(monkeypatch, answered({}, status))
    hint = f"{hint}{chat_server.KEY}" if hint else ""
    whole = f"{URL} refuses the request with status {status}{hint}; answers are kept"
    assert (said, waited) == (whole, [])


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_request_is_sent_with_the_key_to_that_address_only(
    key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirection could lead the text to another host."""
    session = Mock(**{"post.return_value": answered(answer("yes"))})
    monkeypatch.setattr(chat_server, "_session", lambda: session)
    monkeypatch.delenv(chat_server.KEY, raising=False)
    if key:
        monkeypatch.setenv(chat_server.KEY, key)
    ChatServer(url=URL).answer({"model": "m"})
    options = session.post.call_args.kwargs
    assert options["headers"] == ({"Authorization": "Bearer secret"} if key else {})
    assert options["allow_redirects"] is False and options["json"] == {"model": "m"}


@pytest.mark.parametrize(
    ("url", "message"),
    [("ftp://localhost/v1", "expected an address such as"), ("http:///v1", "expected an address such as"),
     ("localhost:8000", "expected an address such as"), ("http://api.example.org", "plain http is for")],
)  # fmt: skip
def test_an_address_is_whole_and_protected(url: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"^--server {url}: {message}"):
        ChatServer(url=url)
    assert ChatServer(url="https://api.example.org").is_hosted
    assert not ChatServer(url=URL).is_hosted


def test_a_model_is_asked_until_the_budget_is_spent_and_then_further(checkout: Path) -> None:
    price = '{"prompt": 500000, "answer": 1000000, "currency": "EUR"}'
    asked = ["rel", checkout / "asked", "--model", "tiny", "--seed", "2", "--at-once", "1", "--price", price]
    with serving(ChatStub(lambda prompt: "none")) as stub:
        words = [*asked, "--prompt", "own", "--server", stub.url]
        first = run(checkout, "ask", *words, "--most-requests", "5")
        second = run(checkout, "ask", *words)
    spent = "7 examples are not asked yet: the budget is spent. With a larger --most-requests"
    assert (first.returncode, first.stdout) == (1, "") and spent in first.stderr
    path, mapping = checkout / "asked/seed-2/rel.jsonl", checkout / "asked/asked/rel.mapping.json"
    results = checkout / "results/demo"
    said = f"pubmill score {path} --dataset rel --mapping {mapping} --results {results}\n"
    assert (second.returncode, second.stdout) == (0, said) and set(stub.asked.values()) == {1}
    assert "12 answers, 120 and 12 tokens, 0 cut off, 72.00 EUR" in second.stderr
    assert all(prompt.startswith("PROMPT OF THE SPEC ") for prompt in stub.asked)
    assert read_json(mapping) == {label: label for label in toy_datasets.LABELS}
    assert read_json(checkout / "asked/asked/system.json")["name"] == "tiny"
    told = read_json(checkout / "asked/asked/rel.seed-2.json")["asking"]
    assert {name: told[name] for name in ("length", "temperature", "structured")} == {
        "length": 512, "temperature": 0.0, "structured": False,
    }  # fmt: skip
