"""The data check: every dataset whose files are at hand, converted and compared with what its spec says."""

import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from pubmill import recipes
from pubmill.convert.dataset import ConversionRecipe, convert
from pubmill.convert.exports import PublishedRecipe, publish
from pubmill.convert.source_files import withholding
from pubmill.errors import PubmillError
from pubmill.graph.dataset_access import AccessTargets
from pubmill.graph.dataset_recipes import conversion_recipe, published_recipe
from pubmill.inspection.data_check.source_places import Place, places
from pubmill.specs import DatasetSpec, File, LocalFile
from pubmill.storage import sources

MAIN = {
    "tokens": ("mentions", "tokens_in_mentions", "sentences"),
    "span": ("questions", "examples"),
}
"""Kind -> the measures of which the first that is expected is shown; of other kinds `examples`."""

Counts = Mapping[str, int | None]


@dataclass(frozen=True)
class Task:
    """One dataset to check, with all that a process of its own needs."""

    dataset: str
    recipe: ConversionRecipe
    published: PublishedRecipe | None
    places: list[Place]

    @property
    def size(self) -> int:
        """Bytes of its source files: what takes longest should start first."""
        return sum(place.path.stat().st_size for place in self.places if place.path)


class SplitFound(NamedTuple):
    """One split: the counts that were expected and found (None: it could not be converted); whether its
    published form has the published `hash` (None: not known), where it has such a form."""

    split: str
    kind: str
    expected: Counts
    found: Counts | None
    has_form: bool
    hash: bool | None

    @property
    def is_compared(self) -> bool:
        """Whether there is anything to compare it with: an expected count, or a known hash."""
        return bool(self.expected) or self.hash is not None

    @property
    def equal(self) -> list[str]:
        """The measures that are as expected."""
        found = self.found
        return [] if found is None else [m for m, n in self.expected.items() if found.get(m, 0) == n]

    @property
    def main(self) -> str:
        """The measure that is shown: if possible one that is expected, and of what the split has."""
        usual = MAIN.get(self.kind, ("examples",))
        expected = [m for m in self.expected if not m.startswith("left_out.")]
        return next((m for m in usual if m in self.expected), next(iter(expected), usual[0]))


@dataclass(frozen=True)
class Outcome:
    """What came of one dataset; `faults` are messages, none where everything is as it should be."""

    dataset: str
    splits: list[SplitFound]
    faults: list[str]
    seconds: float

    @property
    def bare(self) -> list[str]:
        """The splits that have nothing to compare."""
        return [split.split for split in self.splits if not split.is_compared]

    @property
    def is_compared(self) -> bool:
        """Whether it can be as expected, or not: a conversion that fails never is."""
        return bool(self.faults) or len(self.bare) < len(self.splits)


@dataclass(frozen=True)
class Unchecked:
    """A dataset whose files aren't all at hand, and what to do."""

    dataset: str
    why: str


def plan(targets: AccessTargets, names: Iterable[str]) -> tuple[list[Task], list[Unchecked]]:
    """The datasets that can be checked, biggest first, and those that can't."""
    tasks, unchecked = [], []
    for name in names:
        spec = targets.specs.datasets[name]
        found = places(targets, name, in_results=False)
        absent = [place for place in found if place.found is None]
        if absent:
            unchecked.append(Unchecked(name, _why(spec, absent)))
        else:
            tasks.append(_task(name, spec, found))
    return sorted(tasks, key=lambda task: task.size, reverse=True), unchecked


def _why(spec: DatasetSpec, absent: list[Place]) -> str:
    urls = sorted({place.name for place in absent if isinstance(place.source, File)})
    more = f" and {len(urls) - 1} more" if len(urls) > 1 else ""
    told = [f"absent: {urls[0]}{more}"] if urls else []
    own: dict[str, list[str]] = {}
    for place in absent:
        if isinstance(place.source, LocalFile) and place.name not in own.setdefault(place.source.local, []):
            own[place.source.local].append(place.name)
    apply = f"{spec.access}: apply at {spec.apply}, then " if spec.apply else ""
    told += [f"{apply}give LOCAL={key}=FOLDER with {', '.join(files)}" for key, files in own.items()]
    return "; ".join(told)


def _task(name: str, spec: DatasetSpec, found: list[Place]) -> Task:
    recipe = recipes.build(ConversionRecipe, conversion_recipe(name, spec), name)
    form = published_recipe(name, spec) if spec.published else None
    return Task(name, recipe, recipes.build(PublishedRecipe, form, name) if form else None, found)


def check_all(tasks: list[Task], processes: int) -> Iterator[Outcome]:
    """Check every dataset, `processes` at a time; outcomes come as they are ready."""
    with ProcessPoolExecutor(max_workers=processes) as pool:
        for future in as_completed([pool.submit(check, task) for task in tasks]):
            yield future.result()


def check(task: Task) -> Outcome:
    """Check one dataset: the hashes of its files, its counts, the bytes of its published form.

    What a graph's job would refuse is told in `faults`, and counts and hashes are found all the same
    where that is possible, so that one sees what differs.
    """
    began = time.perf_counter()
    faults: list[str] = []
    counts: Mapping[str, Counts] | None = None
    forms: Mapping[str, Mapping[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder, withholding(task.recipe.access != "public"):
        try:
            for place in task.places:
                if place.path:
                    sources.check(place.name, place.path, place.digests)
            examples = Path(folder) / "examples"
            counts = _converted(task, examples, faults)
            if task.published:
                forms = _published(task.published, examples, Path(folder) / "published", faults)
        except Exception as error:
            faults.append(_told(error, task))
    splits = [_split(task, name, counts, forms) for name in task.recipe.splits]
    return Outcome(task.dataset, splits, faults, time.perf_counter() - began)


def _converted(task: Task, output: Path, faults: list[str]) -> Mapping[str, Counts]:
    inputs = {place.role: place.path for place in task.places if place.path}
    try:
        card = convert(task.recipe, inputs, output)
    except PubmillError as error:
        card = convert(replace(task.recipe, expect={}, negative=None), inputs, output)
        faults.append(str(error))
    counts: Mapping[str, Counts] = card["counts"]
    return counts


def _published(
    recipe: PublishedRecipe, examples: Path, output: Path, faults: list[str]
) -> Mapping[str, Mapping[str, Any]]:
    """Split -> what `publish` tells of it, also where a hash differs."""
    try:
        return publish(recipe, examples, output)
    except PubmillError as error:
        unknown = {split: {**file, "sha256": None} for split, file in recipe.files.items()}
        told = publish(replace(recipe, files=unknown), examples, output)
        faults.append(str(error))
        return {
            split: {
                **one,
                "equal": one["sha256"] == wanted if (wanted := recipe.files[split]["sha256"]) else None,
            }
            for split, one in told.items()
        }


def _told(error: Exception, task: Task) -> str:
    """An error in words; an unforeseen one with its place, and without its own words where a licence
    forbids to show text."""
    if isinstance(error, PubmillError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = f": {error}" if task.recipe.access == "public" else ""
    return (
        f"dataset {task.dataset}: {type(error).__name__} at {Path(place.filename).name}:{place.lineno}{words}"
    )


def _split(
    task: Task, name: str, counts: Mapping[str, Counts] | None, forms: Mapping[str, Mapping[str, Any]]
) -> SplitFound:
    return SplitFound(
        split=name,
        kind=task.recipe.kind,
        expected=task.recipe.expect.get(name, {}),
        found=counts[name] if counts else None,
        has_form=bool(task.published and name in task.published.files),
        hash=forms[name]["equal"] if name in forms else None,
    )
