"""Pages of datasets."""

from pubmill.recipes.report import PageRecipe, PageSource
from pubmill.specs import LocalFile
from pubmill.specs.dataset_specs import File
from pubmill.stages.stage import TEMPLATES, GraphPart, Stage
from pubmill.storage.result_paths import BELOW

SPEC_FIELDS = (
    "name", "label", "citation", "notes", "kind", "task", "domain", "suites", "metric", "negative",
    "access", "apply", "licence", "conflicts", "glosses",
)  # fmt: skip
"""Fields of a dataset's spec that its page shows unchanged."""


class DatasetPages(GraphPart):
    """Recipes and inputs of the pages of datasets."""

    def inputs(self, dataset: str) -> list[str]:
        """Return the card and the records of origin of the source files; a `PubmillError` if the files are
        unavailable."""
        records = map(self._paths.source_record, self.graph.datasets.conversion_inputs(dataset))
        return [self._paths.card(dataset), *records]

    def recipe(self, dataset: str) -> PageRecipe:
        """Return the PageRecipe of a dataset: values of its spec; the numbers are on its card."""
        spec = self._specs.datasets[dataset]
        published = spec.published.files if spec.published else {}
        return PageRecipe(
            **{name: getattr(spec, name) for name in SPEC_FIELDS},
            scale=self._study.scale,
            scale_title=self._specs.scale.title,
            made_up=self.graph.datasets.is_made_up(dataset),
            card=BELOW.card(dataset),
            sources=self._page_sources(dataset),
            published={str(split): file for split, file in published.items()},
            variants=tuple(name for name in self.graph.datasets.variants(dataset) if name != dataset),
            versions={"page": DatasetPageStage.version},
        )

    def _page_sources(self, dataset: str) -> tuple[PageSource, ...]:
        """Return the source files: a list, as the order of a mapping would be lost on the way to the page."""
        inputs = self.graph.datasets.inputs(dataset)
        return tuple(
            _page_source(role, file, self._paths.source_record(self._paths.below(inputs[role])))
            for role, file in self._specs.datasets[dataset].sources.items()
        )


def _page_source(role: str, file: File | LocalFile, record: str) -> PageSource:
    """Return where a source file is from, in words that hold on every machine, and how it is checked."""
    if isinstance(file, LocalFile):
        place = f"{file.file}, in the folder local_files.{file.local}"
        check = "sha256" if file.sha256 else None
        return PageSource(role=role, place=place, url=None, check=check, record=record)
    known = "sha256" if file.sha256 else "git_blob"
    check = f"not checked: {file.unchecked}" if file.unchecked else known
    return PageSource(role=role, place=file.url, url=file.url, check=check, record=record)


class DatasetPageStage(Stage):
    """The page of a dataset."""

    name, group, label = "dataset_page", "report", "Writing the page of {wildcards.dataset}"
    version = 6
    read_by_name = (TEMPLATES,)
