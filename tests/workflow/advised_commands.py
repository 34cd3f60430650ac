"""Commands that pubmill prints in messages and pages, each from the function that formats it."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from pubmill.cli.open_command import advice_for, finished_pages
from pubmill.errors import PubmillError
from pubmill.finetuning import task_model_cards as cards
from pubmill.inspection.damaged_results import CheckedFile, report
from pubmill.inspection.dataset_exports import _recipe as gated_recipe
from pubmill.inspection.doctor import diagnoses as doctor
from pubmill.inspection.explain import cell_explanations as explanation
from pubmill.inspection.explain.cell_explanations import Explainer
from pubmill.messages import commands
from pubmill.report.dataset_pages import Page
from pubmill.report.report_content import Report
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.stages.user_folders import how_to_bring
from pubmill.storage.checksums import PREDICTIONS_SEAL, check_predictions
from pubmill.storage.network import _where_it_went
from pubmill.workflow import requested_targets as asked
from pubmill.workflow import run_start as starting
from tests.conftest import ROOT
from tests.dataset_specs import spec_of


def targets(**config: object) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": ["gu2020/table06"]}
    return Graph(*check_study(base | config, ROOT / "specs"))


def explainer() -> Explainer:
    files, settings = ("studies/gu2020.yaml",), ("mirror=tests/world/mirror",)
    return Explainer(targets(scale="full"), ROOT / "specs", files, settings)


def finding(name: str) -> doctor.DatasetFinding:
    return doctor.DatasetFinding(name, True, targets().specs.datasets[name])


def counted_wrong() -> str:
    """Return the doctor's advice on a damaged card, with the card's path as in a checkout."""
    card = Path("results/demo/datasets/bc2gm/card.json")
    card.parent.mkdir(parents=True)
    card.write_text("{", encoding="utf-8")
    found = finding("bc2gm")
    doctor._add_counts(found, targets(), ["--config", "mirror=tests/world/mirror"])
    return found.to_do[-1]


def not_at_this_scale() -> str:
    found = finding("linnaeus")
    doctor._diagnose_dataset(found, targets(), None, [])
    return found.to_do[0]


def to_do() -> str:
    row, column = SimpleNamespace(dataset="bc2gm"), SimpleNamespace(model="pubmedbert-base")
    return explanation._missing_file_commands(explainer(), "gu2020/table06", row, column, [], False)[0]  # type: ignore[arg-type]


def said_by(*words: str) -> str:
    """Return the error output of a program of the checkout."""
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


def page() -> SimpleNamespace:
    return SimpleNamespace(recipe=SimpleNamespace(name="chemprot@blurb", scale="full"))


def started_with(*configfiles: str) -> SimpleNamespace:
    return SimpleNamespace(config_settings=SimpleNamespace(configfiles=configfiles))


def report_command(name: str) -> str:
    """Return a command of a report of the demo."""
    shown = SimpleNamespace(recipe=SimpleNamespace(study="demo", scale="demo"), _configfiles=[])
    return str(getattr(Report, name).fget(shown))


def beyond_the_scale() -> str:
    with pytest.raises(PubmillError) as error:
        targets(datasets=["linnaeus"]).check_files()
    return str(error.value)


CELL = "gu2020/table06 BC2GM PubMedBERT"
FULL = "results/full/datasets/bc2gm/card.json"
GONE = "https://ftp.ncbi.nlm.nih.gov/pubmed/baseline/pubmed20n0001.xml.gz"
OWN = ".venv/bin/snakemake results/small/corpora/pubmed-abstracts/stats.json --configfile studies/small.yaml"
CARD = Path("results/demo/datasets/bc5-chem/card.json")


def changed_predictions() -> str:
    with TemporaryDirectory() as folder:
        predictions = Path(folder, "predictions")
        predictions.write_text("changed", encoding="utf-8")
        with pytest.raises(PubmillError) as error:
            check_predictions(predictions, {PREDICTIONS_SEAL: "0" * 64})
    return str(error.value)


ADVICE: dict[str, Callable[[], str]] = {
    "value_audit._shown_values": lambda: (ROOT / "docs/audit.md").read_text(),
    "checksums.check_predictions": changed_predictions,
    "table_datasets.check_scale": beyond_the_scale,
    "table_command.table": lambda: commands.pubmill("run", "shin2020", "shin2020/table08"),
    "new_command.model": lambda: commands.pubmill(
        "table", "gu2020/table06", "--model", "pubmedbert-base", "-n"
    ),
    "new_command.table": lambda: commands.pubmill(
        "table", "gu2020/table06", "--model", "pubmedbert-base", "-n"
    ),
    "explain_command.print_comparison": lambda: commands.pubmill("run", "demo", "gu2020/table06"),
    "open_command.advice_for": lambda: advice_for(Path(FULL), ["studies/gu2020.yaml"], []),
    "open_command.finished_pages": lambda: finished_pages("gu2020", ["gu2020/table06"]),
    "requested_targets._lost_target_message": lambda: asked._lost_target_message(
        FULL, {}, targets(), ROOT / "studies"
    ),
    "user_folders.how_to_bring": lambda: f"{OWN} {re.findall('--config[^,]*', how_to_bring('abstracts'))[0]}",
    "task_model_cards._usage_text": lambda: cards._usage_text(None),
    "damaged_results._commands": lambda: "\n".join(report([CheckedFile(CARD, "changed", CARD)])),
    "dataset_pages.export": lambda: str(Page.export.fget(page())),  # type: ignore[attr-defined]
    "dataset_exports._recipe": lambda: "\n".join(gated_recipe(spec_of("mednli"))["commands"]),
    "diagnoses._add_counts": counted_wrong,
    "diagnoses._diagnose_dataset": not_at_this_scale,
    "cell_explanations._missing_file_commands": to_do,
    "cell_explanations.command": lambda: explainer().command("gu2020/table03", ["datasets/bc2gm/card.json"]),
    "converted_datasets._not_made": lambda: said_by(
        "-m", "pubmill.cli", "export", "bc2gm", "folder", "--results", "results/full"
    ),
    "report_content.study_command": lambda: report_command("command"),
    "report_content.snakemake_command": lambda: report_command("snakemake_command"),
    "report_content.explain_command": lambda: f"{report_command('explain_command')} {CELL}",
    "network._where_it_went": lambda: _where_it_went(GONE),
    "plan_command.plan": lambda: said_by("-m", "pubmill.cli", "plan"),
    "run_start._fetch_advice": lambda: starting._fetch_advice(started_with("studies/gu2020.yaml")),
}
"""Every function that formats a command -> its text."""
