"""A changed stage needs a higher version, or a confirmation that its output is unchanged."""

import json
import re
from pathlib import Path

import pytest

from pubmill.stages.stage import rules_by_group, stages
from tests import stages as digests
from tests.rule_commands import commands


def test_every_stage_has_sources_that_exist(root: Path) -> None:
    for name, stage in stages().items():
        for pattern in (stage.program, *stage.read_by_name):
            assert list(root.glob(pattern)), f"{name}: nothing matches {pattern}"


def test_every_rule_reads_the_stage_of_its_name(root: Path) -> None:
    text = "".join(path.read_text() for path in sorted((root / "rules").rglob("*.smk")))
    rules = {}
    for block in re.split(r"(?m)^(?=(?:use )?rule )", text)[1:]:
        found = re.match(r"(?:use )?rule (?:\w+ as )?(\w+)", block)
        assert found
        rules[found[1]] = block
    assert rules.keys() == stages().keys()
    for name, block in rules.items():
        assert f"**graph.{name}.resources" in block and f"graph.{name}.label" in block, name
        assert f"**graph.{name}.params" in block or f"version=graph.{name}.version_of" in block, name
        path = Path(stages()[name].program)
        starts = (f"/{path.name} ", f"pubmill.job {path.stem} ", "use rule ")
        assert any(start in block for start in starts), name


def test_every_stage_is_in_one_group() -> None:
    grouped = [rule for rules in rules_by_group().values() for rule in rules]
    assert grouped == list(stages()) and len(grouped) > 40


def test_versions_are_those_that_were_confirmed() -> None:
    stored = {stage: found["version"] for stage, found in json.loads(digests.STORED.read_text()).items()}
    confirmed = {stage: found[0] if isinstance(found, list) else found for stage, found in stored.items()}
    versions = {name: stage.version for name, stage in stages().items()}
    assert confirmed == versions, "confirm a raised version: python -m tests.stages --confirm"


@pytest.mark.parametrize(
    ("stage", "file"),
    [
        ("parse", "corpus/shards.py"), ("pack", "storage/parquet.py"), ("convert", "convert/conll.py"),
        ("score", "storage/files.py"), ("table", "report/templates/table.html.j2"),
    ],
)  # fmt: skip
def test_what_programs_reach_through_others_counts(root: Path, stage: str, file: str) -> None:
    assert root / "pubmill" / file in digests.sources(stage)


def test_messages_specs_and_the_other_rooms_do_not_count(root: Path) -> None:
    found = {path.relative_to(root).as_posix() for path in digests.sources("select_documents")}
    assert {Path(name).parent.as_posix() for name in found} == {
        "pubmill", "pubmill/corpus", "pubmill/jobs", "pubmill/recipes", "pubmill/storage",
    }  # fmt: skip


def test_stages_are_as_confirmed() -> None:
    assert digests.changed() == [], (
        "\nDoes the output change for the same input? Then raise the `version` of the "
        "stage, so that its jobs rerun.\n"
        "In either case confirm with: python -m tests.stages --confirm"
    )


def test_every_command_belongs_to_a_stage() -> None:
    """The text of a command reruns nothing, so its change must be confirmed like that of code."""
    assert {command for stage in stages() for command in digests.started_by(stage)} == set(commands())


def test_comments_and_docstrings_do_not_count(tmp_path: Path) -> None:
    texts = (
        'def f():\n    """One."""\n    return 1\n',
        '# a comment\ndef f():\n    """Two."""\n\n    return 1\n',
        "def f():\n    return 2\n",
    )
    found = []
    for text in texts:
        (tmp_path / "a.py").write_text(text)
        found.append(digests.without_docstrings(tmp_path / "a.py"))
    assert found[0] == found[1] != found[2]
