"""What a stage says of itself without being told."""

from pathlib import Path

from pubmill.stages.all_stages import stages


def test_programs_are_named_after_their_rules_or_by_a_stage() -> None:
    programs = {name: stage.program for name, stage in stages().items()}
    assert [one for one in programs.values() if not Path(one).is_file()] == []
    assert programs["parse_medline"] == "scripts/parse_medline.py"
    assert programs["take_model"] == "scripts/export_model.py"
