"""The files that a study makes."""

from pubmill.stages.all_stages import stages
from pubmill.stages.stage import GraphPart


class Publication(GraphPart):
    """Tables, comparisons, pages and report of a study, and the files of its extras."""

    def files(self) -> list[str]:
        """Return the files that the RO-Crate holds."""
        return [
            *self._table_files(),
            *self._comparison_files(),
            *self._overlap_files(),
            self._report_file(),
            *self._page_files(),
            *(path for name in stages() for path in getattr(self.graph, name).packed()),
        ]

    def everything(self) -> list[str]:
        """Return the targets of a study; what no extra names as one is made only when it is requested."""
        return [
            self._report_file(),
            *self._table_files(),
            *self._comparison_files(),
            *self._overlap_files(),
            *self._page_files(),
            *self._paths.contradiction_files(),
            *(self._paths.audit_files() if self.graph.requests.has_audit() else []),
            *(self.graph.contamination.reports() if self.graph.scope.datasets() else []),
            *(path for name in stages() for path in getattr(self.graph, name).targets()),
        ]

    def _report_file(self) -> str:
        return self._paths.report(self._study.study, "html")

    def _table_files(self) -> list[str]:
        return [path for table in self._study.tables for path in self._paths.table_files(table)]

    def _comparison_files(self) -> list[str]:
        tables = self.graph.requests.result_tables()
        return [path for table in tables for path in self._paths.comparison_files(table)]

    def _overlap_files(self) -> list[str]:
        tables = self.graph.requests.split_tables()
        return [path for table in tables for path in self._paths.overlap_files(table)]

    def _page_files(self) -> list[str]:
        return [path for dataset in self.graph.scope.datasets() for path in self._paths.page_files(dataset)]
