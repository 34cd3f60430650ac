"""Losses by date of publication, by the real Snakefile."""

import pytest

from tests.workflow.conftest import Project

pytestmark = pytest.mark.long

DRIFT = ("--config", "drift=True")


def test_a_report_shows_losses_by_date(copy: Project) -> None:
    assert copy.planned() == {}
    planned = copy.planned(*DRIFT)
    assert (
        planned["drift"] == planned["report"] == 1 and not {"pretrain", "finetune", "table"} & planned.keys()
    )
    copy.run(*DRIFT)
    assert copy.planned(*DRIFT) == {}
    page = (copy.folder / "results/demo/reports/demo.html").read_text()
    assert "By date of publication" in page and "subwords per word by year of publication" in page
