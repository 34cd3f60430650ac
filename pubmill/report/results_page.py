"""A page in Markdown on finished studies: tables, forest plots, how they were made, and what they show.

It is made from the files of the studies' results only, so the same files give the same page. The day is that
of the newest record.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from pubmill.messages import commands
from pubmill.recipes.report import StudyResults
from pubmill.report.forest_plots import forests
from pubmill.report.rendering import duration, environment, escape_markdown, number, p_value
from pubmill.report.report_content import PretrainingSummary, study_command
from pubmill.report.study_report import read_pretraining
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.report.table_views import TableRuns, VerdictTally, table_runs, tally
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import BELOW, STATISTICS, TRIAL_REPORTS
from pubmill.tables.cells import Table, read_as, read_table
from pubmill.tables.comparisons import Comparisons, ModelPair, RowComparisons

ALPHA = 0.05
"""Adjusted p values below it are reported as differences."""
FEW_RUNS = 5
"""With fewer runs of each model, the page warns that their spread is uncertain."""
FIGURE_GAP = 28
"""Distance between the plots of a figure."""


@dataclass(frozen=True)
class TableResult:
    """A finished table (`whole`), its part with values of ours (`shown`), and comparisons of its models."""

    name: str
    whole: Table
    comparisons: Comparisons

    @cached_property
    def shown(self) -> Table:
        """The columns with runs, and the rows in which any of them has a value."""
        columns = tuple(column for column in self.whole.columns if self.whole.has_runs[column.key])
        kept = [
            row
            for row in (*self.whole.rows, *self.whole.composites)
            if any(cell.value is not None for cell in self.whole.cells_of(row, columns))
        ]
        return replace(
            self.whole,
            columns=columns,
            rows=tuple(row for row in self.whole.rows if row in kept),
            composites=tuple(row for row in self.whole.composites if row in kept),
        )

    @property
    def markdown(self) -> str:
        """The table as its own file has it, without its title."""
        return TABLE_RENDERERS["md"](self.shown).partition("\n\n")[2].strip()

    @property
    def runs(self) -> TableRuns:
        """The runs behind its values."""
        return table_runs(self.whole)

    @property
    def tally(self) -> VerdictTally:
        """The published values beside a value of ours, by verdict."""
        return tally([self.shown])

    @property
    def not_run(self) -> str:
        """The number of columns and rows of the paper's table that are not shown."""
        of_columns, of_rows = len(self.whole.columns), len(self.whole.shown_rows)
        columns, rows = of_columns - len(self.shown.columns), of_rows - len(self.shown.shown_rows)
        return f"{columns} of {of_columns} columns and {rows} of {of_rows} rows"

    @property
    def pairs(self) -> list[tuple[RowComparisons, ModelPair]]:
        """Every comparison of the best model of a row with another one."""
        return [(row, pair) for row in self.comparisons.rows for pair in row.pairs]

    @property
    def differences(self) -> list[str]:
        """The comparisons with a small adjusted p value, in words."""
        return [
            f"{self.comparisons.row_labels[row.row]}: {self.comparisons.column_labels[row.best]} is above "
            f"{self.comparisons.column_labels[pair.other]} by {number(pair.difference)} points "
            f"(adjusted p {p_value(pair.bootstrap_adjusted)}, {row.units} {row.unit}s)"
            for row, pair in self.pairs
            if pair.bootstrap_adjusted < ALPHA
        ]

    @property
    def fewest_runs(self) -> int:
        """The smallest number of runs behind any of our values; 0 if no value has runs."""
        cells = [cell for *_, cell in self.shown.read() if cell.seeds and cell.value is not None]
        return min((cell.n for cell in cells), default=0)

    @property
    def figure(self) -> str:
        """The forest plots of all rows, one above the other, as one SVG; empty if there are none."""
        plots = forests(self.shown)
        if not plots:
            return ""
        template = environment().get_template("forest_figure.svg.j2")
        return template.render(found=plots, gap=FIGURE_GAP, title=self.shown.heading)


@dataclass(frozen=True)
class StudyResult:
    """A finished study. `trial_seconds`: duration of each trial; `day`: date of the newest record, or "";
    `own_files`: keys of the user's own folders that it reads."""

    study: StudyResults
    tables: tuple[TableResult, ...]
    pretrainings: tuple[PretrainingSummary, ...]
    corpora: dict[str, Mapping[str, object]]
    trial_seconds: tuple[float, ...]
    day: str
    own_files: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The command that makes the study."""
        folders = json.dumps(dict.fromkeys(self.own_files, "/path/to/folder"))
        settings = [f"local_files={folders}"] if self.own_files else []
        return study_command(self.study.study, *commands.configuration_options([], settings))

    @property
    def commits(self) -> list[str]:
        """The commits of the code that made the runs."""
        return _distinct(commit for one in self.tables for commit in one.whole.provenance.commits)

    @property
    def machines(self) -> list[str]:
        """The machines that made the runs."""
        return _distinct(name for one in self.tables for name in one.whole.provenance.hardware)

    @property
    def packages(self) -> dict[str, list[str]]:
        """The versions of the packages that made the runs."""
        of_tables = [one.whole.provenance.packages for one in self.tables]
        names = _distinct(name for packages in of_tables for name in packages)
        return {name: _distinct(one for of in of_tables for one in of.get(name, ())) for name in names}

    @property
    def seconds(self) -> float:
        """Duration of all training, one job after another."""
        recorded = {record: seed for one in self.tables for record, seed in one.runs.recorded.items()}
        runs = sum(seed.seconds or 0.0 for seed in recorded.values())
        return runs + sum(one.seconds for one in self.pretrainings) + sum(self.trial_seconds)

    def figure_file(self, table: TableResult) -> str:
        """Return the name of a table's figure."""
        return f"{self.study.study}-{table.name.replace('/', '-')}.svg"


def read_result(study: StudyResults, results: Path, own_files: Iterable[str] = ()) -> StudyResult:
    """Read a finished study; a `PubmillError` names the first file that is missing or wrong."""
    tables = tuple(
        TableResult(
            name,
            read_table(results / BELOW.table(name, "json")),
            read_as(Comparisons, results / BELOW.comparisons(name, "json")),
        )
        for name in study.tables
    )
    trials = [read_json(path)["seconds"] for path in sorted(results.glob(TRIAL_REPORTS))]
    return StudyResult(
        study=study,
        tables=tables,
        pretrainings=tuple(
            read_pretraining(name, [results / folder for folder in folders])
            for name, folders in study.pretraining.items()
        ),
        corpora={name: read_json(results / BELOW.corpus(name, STATISTICS)) for name in study.corpora},
        trial_seconds=tuple(trials),
        day=_newest_day(tables, results),
        own_files=tuple(own_files),
    )


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _newest_day(tables: Sequence[TableResult], results: Path) -> str:
    """Return the day on which the newest record of the tables was written, or nothing."""
    records = {seed.record for one in tables for *_, cell in one.whole.read() for seed in cell.seeds}
    times = [path.stat().st_mtime for record in records if (path := results / record).is_file()]
    return datetime.fromtimestamp(max(times), UTC).date().isoformat() if times else ""


def render(studies: Sequence[StudyResult], figures: str) -> str:
    """Render the page; `figures`: the folder of the figures beside it."""
    made = environment(escape_markdown)
    made.globals |= {"duration": duration, "figures": figures, "few_runs": FEW_RUNS}
    return made.get_template("results_page.md.j2").render(found=studies)
