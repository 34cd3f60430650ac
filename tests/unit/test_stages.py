"""A changed stage needs a higher version, or a confirmation that its output is unchanged."""

from pathlib import Path

import pytest

from pubmill.graph import VERSIONS
from tests import stages
from tests.rule_commands import commands


def test_every_stage_has_sources_that_exist(root: Path) -> None:
    assert stages.BEGINNINGS.keys() == VERSIONS.keys()
    for stage, patterns in stages.BEGINNINGS.items():
        for pattern in patterns:
            assert list(root.glob(pattern)), f"{stage}: nothing matches {pattern}"


@pytest.mark.parametrize(
    ("stage", "file"),
    [
        ("parse", "corpus/gzipped.py"),
        ("select", "corpus/statistics.py"),
        ("pack", "pretraining/packed_tokens.py"),
        ("pack", "storage/corpus_parts.py"),
        ("export", "pretraining/model_cards.py"),
        ("convert", "convert/conll.py"),
        ("finetune", "recipes/finetuning.py"),
        ("score", "storage/files.py"),
        ("table", "report/templates/table.html.j2"),
    ],
)
def test_what_programs_reach_through_others_counts(root: Path, stage: str, file: str) -> None:
    assert root / "pubmill" / file in stages.sources(stage)


def test_messages_specs_and_the_other_rooms_do_not_count(root: Path) -> None:
    found = {path.relative_to(root).as_posix() for path in stages.sources("select")}
    assert {Path(name).parent.as_posix() for name in found} == {
        "pubmill/corpus",
        "pubmill/optimisers",
        "pubmill/recipes",
        "pubmill/storage",
        "scripts",
    }


def test_stages_are_as_confirmed() -> None:
    assert stages.changed() == [], (
        "\nDoes the output change for the same input? Then raise the stage's integer in "
        "pubmill/graph/stage_versions.py, so that its jobs rerun.\n"
        "In either case confirm with: python -m tests.stages --confirm"
    )


def test_every_command_belongs_to_a_stage() -> None:
    """The text of a command reruns nothing, so its change must be confirmed like that of code."""
    assert {command for stage in VERSIONS for command in stages.started_by(stage)} == set(commands())


def test_comments_and_docstrings_do_not_count(tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("a.py", "b.py", "c.py"))
    first.write_text('def f():\n    """One."""\n    return 1\n')
    second.write_text('# a comment\ndef f():\n    """Two."""\n\n    return 1\n')
    third.write_text("def f():\n    return 2\n")
    assert stages._content(first) == stages._content(second) != stages._content(third)
