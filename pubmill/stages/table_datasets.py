"""Datasets of tables."""

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.specs import TableSpec
from pubmill.stages.stage import GraphPart


class TableDatasets(GraphPart):
    """Datasets behind the rows of tables."""

    def required(self, table: TableSpec, row: str) -> list[str]:
        """Return the datasets that the runs behind a row are scored on, chosen on, and begin with."""
        parts = self.graph.runs.parts(table.protocol, row)
        folds = self._specs.protocols[table.protocol].folds.get(row)
        used = [*parts, *([folds.chosen_on] if folds else [])]
        pairs = {
            (table.protocol_of(column, of), setting)
            for column in table.columns
            for of in table.rows
            if table.dataset_of(column, of) == row
            for setting in table.settings_of(column, of)
        }
        known = [(self._specs.protocols[protocol], setting) for protocol, setting in sorted(pairs)]
        runs = [(protocol, setting) for protocol, setting in known if setting in protocol.settings]
        for name in used:
            for start in (protocol.start(name, setting) for protocol, setting in runs):
                if start is not None and start not in used:
                    used.append(start)
        return used

    def known_rows(self, table: TableSpec) -> list[str]:
        """Return the datasets of rows and cells that have a spec, whether or not the study requests them."""
        known, parts = self._specs.datasets, self.graph.runs.parts
        return [name for name in table.datasets() if all(p in known for p in parts(table.protocol, name))]

    def of_fact_table(self, table: str) -> list[str]:
        """Return the datasets of a table of facts that can be converted in this study."""
        named = dict.fromkeys(self._specs.fact_tables[table].datasets)
        return [
            name
            for name in named
            if name in self._specs.datasets and self.graph.availability.dataset_of_study(name) is None
        ]

    def wanted(self) -> list[str]:
        """Return datasets with a spec that the study's tables name, and those that runs behind their rows
        need, except those that its `datasets:` leaves out."""
        is_requested, facts = self.graph.requests.has_dataset, self._specs.fact_tables
        tables = [self._specs.tables[table] for table in self.graph.requests.result_tables()]
        named = [
            name
            for table in self._study.tables
            for name in (facts[table].datasets if table in facts else self._specs.tables[table].datasets())
        ]
        rows = [(table, row) for table in tables for row in table.datasets() if is_requested(row)]
        behind = [name for table, row in rows for name in self.required(table, row)]
        wanted = dict.fromkeys([*filter(is_requested, named), *behind])
        return [
            name for name in wanted if name in self._specs.datasets and self.graph.availability.exists(name)
        ]

    def left_out(self) -> list[str]:
        """Return one line for each dataset that the study's tables request but that is unavailable, with the
        reason and what to do."""
        advice = "; fetch what is missing into the mirror, or set `mirror: null`"
        rows = [name for table in self.graph.requests.result_tables() for name in self._requested_rows(table)]
        named, of = dict.fromkeys([*self.wanted(), *rows]), self.graph.availability
        return [
            f"left out of the tables: {name} ({reason}{advice if of.unmirrored(name) else ''})"
            for name in named
            if (reason := of.dataset(name))
        ]

    def _requested_rows(self, table: str) -> list[str]:
        """Return the datasets of a table of results that have a spec and that the study requests."""
        names = filter(self.graph.requests.has_dataset, self._specs.tables[table].datasets())
        return [name for name in names if name in self._specs.datasets]

    def check_scale(self) -> None:
        """Check that the scale has the datasets that the study names, and one of each table of results; a
        `PubmillError` lists what it lacks."""
        exists = self.graph.availability.exists
        named = [name for name in self._study.datasets or () if name in self._specs.datasets]
        rows = {table: self._requested_rows(table) for table in self.graph.requests.result_tables()}
        lacking = [f"dataset {name}" for name in named if not exists(name)] + [
            f"{table}: every dataset ({', '.join(names)})"
            for table, names in rows.items()
            if names and not any(map(exists, names))
        ]
        if lacking:
            raise PubmillError(
                f"scale {self._study.scale} has made-up data, and datasets of which you have every file; it "
                f"lacks {'; '.join(lacking)}. Choose another `scale:`, or download the files into a folder "
                f"and run {commands.pubmill('new', 'dataset', './FOLDER')}"
            )

    def check_folders(self) -> None:
        """Check that folders named for datasets of the study hold their files; one `PubmillError` for all."""
        mistakes = [text for dataset in self.wanted() for text in self.graph.availability.mistakes(dataset)]
        if mistakes:
            advice = "Put the files there, or leave the datasets out (`datasets:` of the study)."
            raise PubmillError("\n".join([*mistakes, advice]))
