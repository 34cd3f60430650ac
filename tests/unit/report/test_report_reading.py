"""Reading a report's inputs: logs of pretraining, sources, and files that are broken or absent."""

import json
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.report.study_report import read_report, read_sources, render
from tests.pages import parsed
from tests.unit import toy_tables as made_up
from tests.unit.report.toy_reports import put, put_source, put_table, recipe


def test_a_pretraining_is_read_from_its_last_log_and_marked_at_checkpoints(results: Path) -> None:
    pretraining = read_report(recipe(), results).pretrainings[0]
    assert (pretraining.steps, pretraining.tokens, pretraining.seconds) == (4, 4000, 60.0)
    assert pretraining.curve and [text for _, text in pretraining.curve.marks] == ["step 2"]


def test_losses_on_held_out_documents_are_shown_by_checkpoint(results: Path) -> None:
    path = results / "pretraining/base/step-2/state.json"
    held_out = {"subword": {"masked": 160, "mlm_loss": 5.1226, "mlm_accuracy": 0.18, "nsp_loss": None}}
    put(path, json.loads(path.read_text()) | {"held_out": held_out})
    page = parsed(render(read_report(recipe(), results)))
    [line] = page.xpath("//div[@aria-labelledby='held-out']//tbody/tr")
    assert [cell.text_content() for cell in line] == ["base", "2", "subword", "MLM 5.123"]


def test_a_study_without_pretraining_or_records_has_a_page(tmp_path: Path) -> None:
    empty = made_up.table(tmp_path, made_up.recipe(records={}))
    put_table(tmp_path, empty)
    bare = recipe(pretraining={}, corpora=[], vocabs=[], datasets=[], models=[], sources=[])
    assert "No run has a score yet" in render(read_report(bare, tmp_path))


@pytest.mark.parametrize(("file", "content", "message"), [
    ("corpora/abstracts/stats.json", "{}", "lacks parsed, documents"),
    ("datasets/bc2gm/card.json", "{", "card.json:1"),
    ("datasets/bc2gm/card.json", "{}", "card.json is not a Card"),
    ("pretraining/base/step-4/log.jsonl", '{"step": 1}\n', "log.jsonl:1: expected step, tokens and loss"),
    ("pretraining/base/step-4/log.jsonl", "", "log.jsonl is empty or absent"),
    ("tables/small/gu2020-table06.json", "{}", "table06.json is not a Table"),
    ("tables/small/gu2020-table06.comparisons.json", "{}", "comparisons.json is not a Comparisons"),
])  # fmt: skip
def test_a_broken_input_is_named(results: Path, file: str, content: str, message: str) -> None:
    put(results / file, content)
    with pytest.raises(PubmillError, match=message):
        read_report(recipe(), results)


def test_folders_of_many_sources_are_one_line_with_one_digest(tmp_path: Path) -> None:
    names = [f"f{i:02}.gz" for i in range(25)]
    for name in names:
        put_source(tmp_path, name)
    (folder,) = read_sources(tmp_path, [f"sources/host/{name}.source.json" for name in names])
    assert (folder.count, folder.files, folder.bytes, folder.retrieved) == (25, (), 125, "2026-01-02")
    assert len(folder.sha256) == 64


def test_only_the_studys_own_sources_are_shown(results: Path) -> None:
    put_source(results, "of-another-study.tsv")
    page = render(read_report(recipe(), results))
    assert "one.tsv" in page and "of-another-study" not in page
