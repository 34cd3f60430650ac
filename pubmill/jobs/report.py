"""Make the report of a study: one self-contained page, of tables, comparisons of their models, pretraining
logs, corpus statistics, vocabulary diagnoses, dataset cards and the records of all source files."""

from pathlib import Path

from pubmill.recipes.report import ReportRecipe
from pubmill.report.study_report import read_report, render
from pubmill.storage.checksums import write_formats


def main(recipe: ReportRecipe, results: Path, output: Path) -> None:
    write_formats(output.with_suffix(""), read_report(recipe, results), {"html": render})
