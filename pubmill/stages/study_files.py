"""The files that a study makes."""

from pubmill.stages.stage import GraphPart


class Publication(GraphPart):
    """Tables, comparisons, pages, report, checklist and proof of a study."""

    def files(self) -> list[str]:
        """Return the files that the RO-Crate holds."""
        checklist = self._paths.checklist_files(self._study.study)
        proof = self._paths.proof_files(self._study.study) if self.graph.requests.result_tables() else []
        return [
            *self._table_files(),
            *self._comparison_files(),
            *self.graph.overlap.files(),
            self._report_file(),
            *checklist,
            *self._page_files(),
            *proof,
        ]

    def everything(self) -> list[str]:
        """Return the targets of a study; proof and RO-Crate are made only when they are requested."""
        result_tables = self.graph.requests.result_tables()
        return [
            self._report_file(),
            *self._table_files(),
            *self._comparison_files(),
            *self.graph.overlap.files(),
            *self._page_files(),
            *self._paths.contradiction_files(),
            *self.graph.audit.files(),
            *(self.graph.contamination.reports() if self.graph.scope.datasets() else []),
            *(self._paths.checklist_files(self._study.study) if result_tables else []),
        ]

    def _report_file(self) -> str:
        return self._paths.report(self._study.study, "html")

    def _table_files(self) -> list[str]:
        return [path for table in self._study.tables for path in self._paths.table_files(table)]

    def _comparison_files(self) -> list[str]:
        tables = self.graph.requests.result_tables()
        return [path for table in tables for path in self._paths.comparison_files(table)]

    def _page_files(self) -> list[str]:
        return [path for dataset in self.graph.scope.datasets() for path in self._paths.page_files(dataset)]
