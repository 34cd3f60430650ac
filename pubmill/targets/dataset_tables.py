"""Tables of datasets, and the pages of datasets."""

from pathlib import Path
from typing import Any

from pubmill.specs import DatasetSpec, LocalFile
from pubmill.specs.datasets import File
from pubmill.specs.tables import DatasetRow, DatasetTableSpec, TableSpec
from pubmill.targets.runs import RunTargets
from pubmill.targets.versions import VERSIONS

TABLE_FORMS = ("json", "csv", "md", "tex", "html")
PAGE_FORMS = ("html", "md")
NOT_WANTED = "not part of this study"
PAGE_FACTS = (
    "name", "label", "citation", "notes", "kind", "task", "domain", "suites", "metric", "negative",
    "access", "apply", "licence", "duplicates", "conflicts",
)  # fmt: skip
"""What a page tells of a dataset's spec as it stands there."""


class DatasetTableTargets(RunTargets):
    """From cards and specs to tables and pages of datasets."""

    TABLE_FORMS = TABLE_FORMS
    PAGE_FORMS = PAGE_FORMS

    def dataset_tables(self) -> list[str]:
        """The study's tables of datasets; the others are of results."""
        return [table for table in self.study.tables if table in self.specs.dataset_tables]

    def lacks_here(self, dataset: str) -> str | None:
        """Why a dataset that there is isn't converted in this study; None if it is."""
        return self.lacks(dataset) if self.wants(dataset) else NOT_WANTED

    def shown_datasets(self, table: str) -> list[str]:
        """The datasets of a table that can be converted in this study."""
        names = [row.dataset for row in self.specs.dataset_tables[table].rows]
        return [name for name in names if name in self.specs.datasets and self.lacks_here(name) is None]

    def cards(self, table: str) -> dict[str, str]:
        """The cards that a table needs, below the results folder: none, where it shows no counts."""
        counts = any(c.value.startswith(("count", "label")) for c in self.specs.dataset_tables[table].columns)
        return {name: f"datasets/{name}/card.json" for name in self.shown_datasets(table) if counts}

    def card_files(self, table: str) -> list[str]:
        return [f"{self.results}/{card}" for card in self.cards(table).values()]

    def heading(self, spec: TableSpec | DatasetTableSpec) -> dict[str, Any]:
        """What stands over a table of either kind."""
        return {
            "paper": spec.paper,
            "table": spec.name,
            "title": spec.title,
            "caption": spec.caption,
            "citation": spec.citation,
            "notes": spec.notes,
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
        }

    def dataset_table_recipe(self, table: str) -> dict[str, Any]:
        """DatasetTableRecipe of a table."""
        spec, cards = self.specs.dataset_tables[table], self.cards(table)
        rows = [self._dataset_row(spec, row, cards.get(row.dataset)) for row in spec.rows]
        return {
            **self.heading(spec),
            "comparable": not any(row["made_up"] for row in rows),
            "columns": [column.model_dump() for column in spec.columns],
            "rows": rows,
            "lists_members": spec.lists_members,
            "versions": {"dataset_table": VERSIONS["dataset_table"]},
        }

    def _dataset_row(self, table: DatasetTableSpec, row: DatasetRow, card: str | None) -> dict[str, Any]:
        spec = self.specs.datasets.get(row.dataset)
        return {
            "dataset": row.dataset,
            "label": row.label,
            "measure": row.measure,
            "published": row.published or row.dataset.partition("@")[0],
            "words": {**table.words, **row.words},
            "why": row.why,
            "facts": self._facts(row.dataset, spec) if spec else None,
            "card": card,
            "missing": self.lacks_here(row.dataset) if spec else row.missing,
            "conflicts": list(spec.conflicts) if spec else [],
            "made_up": card is not None and self.is_made_up(row.dataset),
        }

    def is_made_up(self, dataset: str) -> bool:
        """Whether the scale gives the dataset other files than the published ones."""
        return dataset in self.specs.scale.datasets

    def variants(self, dataset: str) -> list[str]:
        """All forms of a dataset, itself included: `chemprot@blurb`, `chemprot@blue` ..."""
        base = dataset.partition("@")[0]
        return [name for name in self.specs.datasets if name.partition("@")[0] == base]

    def _facts(self, name: str, spec: DatasetSpec) -> dict[str, Any]:
        suites = {suite for form in self.variants(name) for suite in self.specs.datasets[form].suites}
        return {
            "kind": spec.kind,
            "task": spec.task,
            "domain": spec.domain,
            "metric": spec.metric,
            "suites": sorted(suites),
        }

    def published(self, table: str, specs: Path) -> str:
        """The published values of a table. Relative to the working folder where that is the checkout:
        a checkout that moves with its results would else look changed."""
        path = specs.resolve() / "tables" / f"{table}.published.csv"
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

    def table_files(self, table: str) -> list[str]:
        return [f"{self.results}/tables/{table}.{form}" for form in TABLE_FORMS]

    def page_files(self, dataset: str) -> list[str]:
        return [f"{self.results}/pages/datasets/{dataset}.{form}" for form in PAGE_FORMS]

    def page_inputs(self, dataset: str) -> list[str]:
        """The card, and where each source file came from; a `PubmillError` where they can't be had."""
        self.check_access(dataset)
        records = [f"{path}.source.json" for path in self.dataset_inputs(dataset).values()]
        return [f"{self.results}/datasets/{dataset}/card.json", *records]

    def page_recipe(self, dataset: str) -> dict[str, Any]:
        """PageRecipe of a dataset: what its spec says; the numbers are its card's."""
        spec = self.specs.datasets[dataset]
        return {
            **spec.model_dump(include=set(PAGE_FACTS)),
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
            "made_up": self.is_made_up(dataset),
            "card": f"datasets/{dataset}/card.json",
            "sources": self._page_sources(dataset),
            "published": spec.published.model_dump(include={"files"})["files"] if spec.published else {},
            "variants": [name for name in self.variants(dataset) if name != dataset],
            "versions": {"page": VERSIONS["page"]},
        }

    def _page_sources(self, dataset: str) -> list[dict[str, str | None]]:
        """A list, as the order of a mapping would be lost on the way to the page."""
        return [
            {"role": role, **_place(file), "record": f"{self._below_results(dataset, role)}.source.json"}
            for role, file in self.specs.datasets[dataset].sources.items()
        ]

    def _below_results(self, dataset: str, role: str) -> str:
        return self.dataset_inputs(dataset)[role].removeprefix(f"{self.results}/")


def _place(file: File | LocalFile) -> dict[str, str | None]:
    """Where a source file is from, in words that hold on every machine, and how it is checked."""
    if isinstance(file, LocalFile):
        place = f"{file.file}, in the folder local_files.{file.local}"
        return {"place": place, "url": None, "check": "sha256" if file.sha256 else None}
    known = "sha256" if file.sha256 else "git_blob"
    check = f"not checked: {file.unchecked}" if file.unchecked else known
    return {"place": file.url, "url": file.url, "check": check}
