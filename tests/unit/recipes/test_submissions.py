"""Statements about systems and engines."""

from typing import Any

import pytest

from pubmill.recipes.submissions import Engine, System


@pytest.mark.parametrize(
    ("batching", "stated"),
    [
        (None, ", on vllm 0.11.0, quantisation awq"),
        ("256 at most", ", on vllm 0.11.0, quantisation awq, batching 256 at most"),
    ],
)
def test_an_engine_is_stated_with_its_batching_if_that_is_known(batching: str | None, stated: str) -> None:
    engine = Engine(name="vllm", version="0.11.0", quantisation="awq", batching=batching)
    assert engine.stated() == stated


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, None), ({"url": None, "prompt": "Which?"}, None),
        ({"name": " "}, "`name` and `version` of the system must not be empty"),
        ({"version": ""}, "`name` and `version` of the system must not be empty"),
        ({"url": None}, "give `url` or `prompt` of the system, so that readers know what predicted"),
        ({"url": "", "prompt": ""}, "give `url` or `prompt` of the system"),
    ],
)  # fmt: skip
def test_a_system_has_a_name_a_version_and_a_description(changes: dict[str, Any], fault: str | None) -> None:
    values = {"name": "ours", "version": "1", "url": "https://example.org"} | changes
    if fault is None:
        assert not System(**values).local
    else:
        with pytest.raises(ValueError, match=fault):
            System(**values)
