"""Data check: convert every dataset whose files are available, and compare the results with its spec."""

import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pubmill.convert.dataset import convert
from pubmill.convert.exports import WrittenSplit, publish
from pubmill.errors import PubmillError
from pubmill.inspection.data_check.source_places import Place, places
from pubmill.messages.quotations import withholding
from pubmill.recipes.datasets import ConversionRecipe, PublishedRecipe
from pubmill.specs import DatasetSpec, File, LocalFile
from pubmill.stages import Graph
from pubmill.stages.dataset_recipes import conversion_recipe, published_recipe
from pubmill.storage import sources

MAIN = {"tokens": ("mentions", "tokens_in_mentions", "sentences"), "span": ("questions", "examples")}
"""Kind -> measures, of which the first that the spec expects is shown; for other kinds, `examples`."""

Counts = Mapping[str, int | None]


@dataclass(frozen=True)
class DatasetCheck:
    """One dataset to check, with all data that a separate process needs."""

    dataset: str
    recipe: ConversionRecipe
    published: PublishedRecipe | None
    places: list[Place]

    @property
    def size(self) -> int:
        """Bytes of the source files; the largest datasets take longest and should start first."""
        return sum(place.path.stat().st_size for place in self.places if place.path)


class SplitCheck(NamedTuple):
    """Result for one split. `found`: counts of the conversion, None if it failed. `has_form`: whether a form
    of it is published; `hash`: whether the form made here has the published hash, None if none is known."""

    split: str
    kind: str
    expected: Counts
    found: Counts | None
    has_form: bool
    hash: bool | None

    @property
    def is_compared(self) -> bool:
        """Whether the split can be compared with anything: an expected count, or a known hash."""
        return bool(self.expected) or self.hash is not None

    @property
    def equal(self) -> list[str]:
        """Measures whose counts are as expected."""
        found = self.found
        return [] if found is None else [m for m, n in self.expected.items() if found.get(m, 0) == n]

    @property
    def main(self) -> str:
        """Measure to show: if possible, one that the spec expects and that does not count left-out items."""
        preferred = MAIN.get(self.kind, ("examples",))
        expected = [m for m in self.expected if not m.startswith("left_out.")]
        return next((m for m in preferred if m in self.expected), next(iter(expected), preferred[0]))


@dataclass(frozen=True)
class CheckOutcome:
    """Result of checking one dataset; `faults` are messages, empty if everything is as expected."""

    dataset: str
    splits: list[SplitCheck]
    faults: list[str]
    seconds: float

    @property
    def bare(self) -> list[str]:
        """Splits that cannot be compared with anything."""
        return [split.split for split in self.splits if not split.is_compared]

    @property
    def is_compared(self) -> bool:
        """Whether the dataset was compared with anything; a failed conversion counts as compared."""
        return bool(self.faults) or len(self.bare) < len(self.splits)


@dataclass(frozen=True)
class Unchecked:
    """A dataset some of whose files are not available, and what to do about it."""

    dataset: str
    why: str


def plan(graph: Graph, names: Iterable[str]) -> tuple[list[DatasetCheck], list[Unchecked]]:
    """Return the datasets that can be checked, largest first, and those that cannot."""
    tasks, unchecked = [], []
    for name in names:
        spec = graph.specs.datasets[name]
        needed = places(graph, name, in_results=False)
        absent = [place for place in needed if place.found is None]
        if absent:
            unchecked.append(Unchecked(name, _absence_reason(spec, absent)))
        else:
            form = published_recipe(name, spec) if spec.published else None
            tasks.append(DatasetCheck(name, conversion_recipe(name, spec), form, needed))
    return sorted(tasks, key=lambda task: task.size, reverse=True), unchecked


def _absence_reason(spec: DatasetSpec, absent: list[Place]) -> str:
    urls = sorted({place.name for place in absent if isinstance(place.source, File)})
    more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
    reasons = [f"absent: {urls[0]}{more}"] if urls else []
    own: dict[str, list[str]] = {}
    for place in absent:
        if isinstance(place.source, LocalFile) and place.name not in own.setdefault(place.source.local, []):
            own[place.source.local].append(place.name)
    apply = f"{spec.access}: apply at {spec.apply}, then " if spec.apply else ""
    reasons += [f"{apply}give LOCAL={key}=FOLDER with {', '.join(files)}" for key, files in own.items()]
    return "; ".join(reasons)


def check_all(tasks: list[DatasetCheck], processes: int) -> Iterator[CheckOutcome]:
    """Check every dataset, `processes` at a time; yield each outcome when it is ready."""
    with ProcessPoolExecutor(max_workers=processes) as pool:
        for future in as_completed([pool.submit(check, task) for task in tasks]):
            yield future.result()


def check(task: DatasetCheck) -> CheckOutcome:
    """Check one dataset: the hashes of its files, its counts, and the bytes of its published form. After
    errors that would stop a job, counts and hashes are still computed if possible, to show what differs."""
    began = time.perf_counter()
    faults: list[str] = []
    counts: Mapping[str, Counts] | None = None
    forms: Mapping[str, WrittenSplit] = {}
    access = task.recipe.access
    with tempfile.TemporaryDirectory() as folder, withholding(access != "public", own=access == "local"):
        try:
            for place in task.places:
                if place.path:
                    sources.check(place.name, place.path, place.digests)
            examples = Path(folder) / "examples"
            inputs = {place.role: place.path for place in task.places if place.path}
            try:
                card = convert(task.recipe, inputs, examples)
            except PubmillError as error:
                card = convert(replace(task.recipe, expect={}, negative=None), inputs, examples)
                faults.append(str(error))
            counts = dict(card["counts"])
            if task.published:
                forms = _published_forms(task.published, examples, Path(folder) / "published", faults)
        except PubmillError as error:
            faults.append(str(error))
        except Exception as error:  # unexpected: with its place in the code, its text only if that is public
            place_in_code = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place_in_code.filename).name}:{place_in_code.lineno}"
            words = f": {error}" if access == "public" else ""
            faults.append(f"dataset {task.dataset}: {type(error).__name__} at {where}{words}")
    splits = []
    for name in task.recipe.splits:
        expected, found = task.recipe.expect.get(name, {}), counts[name] if counts else None
        has_form = bool(task.published and name in task.published.files)
        equal = forms[name]["equal"] if name in forms else None
        splits.append(SplitCheck(name, task.recipe.kind, expected, found, has_form, equal))
    return CheckOutcome(task.dataset, splits, faults, time.perf_counter() - began)


def _published_forms(
    recipe: PublishedRecipe, examples: Path, output: Path, faults: list[str]
) -> Mapping[str, WrittenSplit]:
    """Return split -> what `publish` returns for it, even if a hash differs."""
    try:
        return publish(recipe, examples, output)
    except PubmillError as error:
        unknown = {split: replace(file, sha256=None) for split, file in recipe.files.items()}
        written = publish(replace(recipe, files=unknown), examples, output)
        faults.append(str(error))
        for split, one in written.items():
            wanted = recipe.files[split].sha256
            one["equal"] = one["sha256"] == wanted if wanted else None
        return written
