"""`pubmill ask` on a dataset of its own."""

from pathlib import Path

from pubmill.storage.files import read_json
from tests.chat_stub import ChatStub, serving
from tests.unit.predictions import toy_datasets as toy
from tests.unit.predictions.test_programs import checkout as checkout
from tests.unit.predictions.test_programs import run


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
    assert read_json(mapping) == {label: label for label in toy.LABELS}
    assert read_json(checkout / "asked/asked/system.json")["name"] == "tiny"
    told = read_json(checkout / "asked/asked/rel.seed-2.json")["asking"]
    assert {name: told[name] for name in ("length", "temperature", "structured", "logprobs")} == {
        "length": 512, "temperature": 0.0, "structured": False, "logprobs": False,
    }  # fmt: skip
