"""The graph of an archived study, which knows from its statement what was available when it was run."""

from collections.abc import Sequence
from pathlib import Path

from pubmill.extras.archive.archive_recipes import ArchiveRecipe
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.stages.record_status import Records
from pubmill.stages.supplied_predictions import SuppliedPredictions
from pubmill.stages.table_datasets import DatasetAccess
from pubmill.stages.table_models import ModelAccess


def stated_graph(stated: ArchiveRecipe, folder: Path) -> Graph:
    """Return the graph of the study that is unpacked in a folder, by its specs and configuration. Only the
    reasons for what is missing, and the seeds of supplied predictions, are taken from the statement."""

    class StatedDatasets(DatasetAccess):
        def obstacle(self, dataset: str) -> str | None:
            return stated.lacking_datasets.get(dataset)

    class StatedModels(ModelAccess):
        def obstacle(self, model: str) -> str | None:
            return stated.lacking_models.get(model)

    class StatedSubmissions(SuppliedPredictions):
        def files(self, model: str) -> dict[str, dict[int, Path]]:
            seeds = stated.supplied.get(model, {})
            return {dataset: dict.fromkeys(of_dataset, Path()) for dataset, of_dataset in seeds.items()}

    class StatedRecords(Records):
        def at_hand(self, records: Sequence[str]) -> list[str]:
            there = super().at_hand(records)
            return [path for path in records if path in stated.stale or path in there]

        def stale(self, record: str) -> str | None:
            return stated.stale.get(record) or super().stale(record)

    own: dict[str, object] = {"mirror": None, "local_files": {}, "results": str(folder / "results")}
    graph = Graph(*check_study({**stated.configuration, **own}, folder / "specs"))
    graph.access, graph.model_access = StatedDatasets(graph), StatedModels(graph)
    graph.records, graph.pipelines.supplied = StatedRecords(graph), StatedSubmissions(graph)
    return graph
