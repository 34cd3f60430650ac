"""Stages of a run: every rule belongs to one."""

import re
from collections import Counter
from pathlib import Path

from pubmill.messages.stages import OTHER, STAGES, stage_of


def test_every_rule_is_in_one_stage(root: Path) -> None:
    text = "".join(path.read_text() for path in (root / "rules").glob("*.smk"))
    rules = re.findall(r"^(?:rule|use rule \w+ as) (\w+)", text, re.MULTILINE)
    assert Counter(rule for rules in STAGES.values() for rule in rules) == Counter(rules)


def test_a_rule_of_another_workflow_has_a_stage_too() -> None:
    assert stage_of("pretrain") == "pretrain"
    assert stage_of("theirs_align") == OTHER
