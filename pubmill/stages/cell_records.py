"""Cells of tables of results."""

from pubmill.specs import TableSpec
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.stages.stage import GraphPart
from pubmill.storage.result_paths import BELOW, RunKey


class Cells(GraphPart):
    """Records behind the cells of tables of results."""

    def records(self, table: TableSpec, column: ColumnSpec, row: RowSpec) -> list[str]:
        """Return the records of one cell.

        There are none if the paper copied the cell from another paper, if the model is a pipeline that does
        not predict the row's dataset, or if the column has no setting for it.
        """
        model = table.model_of(column, row)
        assert model
        if table.copied_from(column, row):
            return []
        protocol = table.protocol_of(column, row)
        parts = self.graph.runs.parts(protocol, table.dataset_of(column, row))
        if model in self.graph.pipelines.names():
            of_parts = [self.graph.pipelines.records(model, part) for part in parts]
            return [record for records in of_parts for record in records] if all(of_parts) else []
        spec, data = self._specs.protocols[protocol], self._specs.datasets[parts[0]]
        setting = table.setting_of(column, row, spec, data)
        return [
            BELOW.record(run, seed)
            for dataset in parts
            if setting is not None
            for run in [RunKey(protocol, model, dataset, setting)]
            for seed in self.graph.runs.seeds(run)
        ]
