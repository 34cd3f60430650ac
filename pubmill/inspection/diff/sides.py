"""The two sides of a difference: what a commit, a study, a setting or a folder of runs stands for.

A side has resolved recipes by kind and names, and the records of runs by the runs' names. Equal names of two
sides are paired. If all names of a side share, for example, one setting, and those of the other side share
another setting, settings are ignored.
"""

import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pubmill.errors import PubmillError
from pubmill.inspection.doctor.diagnoses import merged_config
from pubmill.messages.wording import unknown
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.tables import Aggregate
from pubmill.recipes.writing import as_values
from pubmill.specs import RecipeWeights
from pubmill.specs.study import DEMO, check_study, configuration_files
from pubmill.stages import Graph
from pubmill.stages.selection_jobs import DESCRIPTIVE
from pubmill.storage.files import read_json
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import FINAL_RECORDS, RunKey

Names = tuple[str, ...]
Value = TypeVar("Value")

OF_RECORDS = (
    "metric", "split", "versions", "data_sha256", "trained_on_sha256", "model_sha256", "dev_split",
    "max_length", "scale", "commit", "packages", "python",
)  # fmt: skip
"""Fields of a record that are compared beside its recipe."""
FINE_TUNING = "fine-tuning"


class Side(NamedTuple):
    """One side. `recipes`: kind and names -> resolved recipe; `runs`: protocol, model, dataset and setting ->
    records, by path; `aggregates`: protocol -> how its runs are aggregated."""

    name: str
    recipes: Mapping[Names, Mapping[str, object]]
    runs: dict[Names, list[Path]]
    aggregates: Mapping[str, Aggregate]


class Context(NamedTuple):
    """Where operands are looked up. `root`: the checkout; `study`: the study whose recipes and results belong
    to a commit or a setting; `settings`: `--config` of the command line."""

    root: Path
    study: str
    settings: Sequence[str]


def side_of(operand: str, context: Context) -> Side:
    """Return what an operand stands for: a record, folder of runs, study, PROTOCOL/SETTING, or commit."""
    if Path(operand).exists() and not operand.endswith(".yaml"):
        return _side_of_runs(operand, context)
    if operand == DEMO or operand.endswith(".yaml") or (context.root / f"studies/{operand}.yaml").is_file():
        graph = _graph(context.root, operand, context.settings)
        runs = sorted(set(_requested(graph)))
        return Side(operand, dict(_recipes(graph, runs)), _records(graph, runs), _aggregates(graph))
    graph = _graph(context.root, context.study, context.settings)
    protocol, _, setting = operand.partition("/")
    if protocol in graph.specs.protocols and setting:
        return _side_of_setting(operand, graph, protocol, setting)
    if commit := _commit(operand, context.root):
        return _side_of_commit(operand, commit, context, graph)
    known = [path.stem for path in (context.root / "studies").glob("*.yaml")]
    settings = [f"{name}/{one}" for name, spec in graph.specs.protocols.items() for one in spec.settings]
    raise PubmillError(
        f"{unknown('study, setting or commit', operand, [DEMO, *known, *settings])}. Name one of these, "
        f"the file of a record, or a folder of runs"
    )


def _graph(root: Path, study: str, settings: Sequence[str]) -> Graph:
    """Return the graph of a study, by the specs below a folder."""
    overlays = configuration_files(study, root / "studies")
    config = merged_config(root / "config.yaml", overlays, settings)
    return Graph(*check_study(config, root / "specs"))


def _aggregates(graph: Graph) -> dict[str, Aggregate]:
    return {name: spec.final.aggregate for name, spec in graph.specs.protocols.items()}


def _side_of_runs(operand: str, context: Context) -> Side:
    """Return the records at or below a path."""
    path = Path(operand)
    files = [path] if path.is_file() else sorted({*path.rglob(FINAL_RECORDS), *path.glob("seed-*[0-9].json")})
    if not files:
        expected = "expected a record final/seed-N.json, or a folder that has some below it"
        raise PubmillError(f"{operand}: {expected}")
    runs: dict[Names, list[Path]] = {}
    for one in files:
        runs.setdefault(run_of(one).run, []).append(one)
    recipes = {(FINE_TUNING, *names): described(read_record(paths[0])) for names, paths in runs.items()}
    graph = _graph(context.root, context.study, context.settings)
    return Side(operand, recipes, runs, _aggregates(graph))


def described(record: Record) -> dict[str, object]:
    """Return the recipe of a record and the fields that identify its inputs."""
    return {"recipe": record.recipe, **{name: getattr(record, name) for name in OF_RECORDS}}


def _requested(graph: Graph) -> Iterator[RunKey]:
    """Yield the runs that a study's tables request."""
    for table in graph.requests.result_tables():
        for _, _, paths in graph.tables.cells_with_runs(table):
            yield from (run_of(path).run for path in paths)


def _records(graph: Graph, runs: Iterable[RunKey]) -> dict[Names, list[Path]]:
    """Return the records on disk of the runs that have some."""
    return {run: paths for run in runs if (paths := sorted(Path(graph.paths.run(run)).glob(FINAL_RECORDS)))}


def _recipes(graph: Graph, runs: Iterable[RunKey]) -> Iterator[tuple[Names, dict[str, object]]]:
    """Yield the recipes of runs, and the specs that they are made from."""
    specs, named = graph.specs, {"protocol": set[str](), "model": set[str](), "dataset": set[str]()}
    for run in runs:
        for kind, name in zip(named, run[:3], strict=True):
            named[kind].add(name)
        if run.protocol in specs.protocols:
            yield (FINE_TUNING, *run), as_values(graph.runs.recipe(run))
    weights = [specs.models[model].weights for model in named["model"] & specs.models.keys()]
    pretraining = {one.recipe for one in weights if isinstance(one, RecipeWeights)} & specs.pretraining.keys()
    bases = [specs.pretraining[name] for name in pretraining]
    parts: list[tuple[str, Mapping[str, Any], set[str]]] = [
        ("protocol", specs.protocols, named["protocol"]),
        ("model", specs.models, named["model"]),
        ("dataset", specs.datasets, named["dataset"]),
        ("pretraining", specs.pretraining, pretraining),
        ("corpus", specs.corpora, {one.corpus for one in bases}),
        ("vocabulary", specs.vocabs, {one.vocab for one in bases}),
    ]
    for kind, known, names in parts:
        for name in sorted(names & known.keys()):
            yield (kind, name), known[name].model_dump(mode="json", exclude=DESCRIPTIVE)


def _side_of_setting(name: str, graph: Graph, protocol: str, setting: str) -> Side:
    """Return the runs on disk in a setting, and the recipes of the study's runs in it."""
    spec = graph.specs.protocols[protocol]
    if setting not in spec.settings:
        raise PubmillError(f"protocol {protocol}: {unknown('setting', setting, spec.settings)}")
    pattern = graph.paths.run(RunKey(protocol, "*", "*", setting))
    on_disk = {run_of(path).run for path in Path().glob(f"{pattern}/{FINAL_RECORDS}")}
    others = {run._replace(protocol=protocol, setting=setting) for run in _requested(graph)}
    models, datasets = graph.specs.models, graph.specs.datasets
    known = (run for run in on_disk | others if run.model in models and run.dataset in datasets)
    runs = sorted(run for run in known if not spec.obstacle(datasets[run.dataset], run.model, setting))
    recipes = {names: recipe for names, recipe in _recipes(graph, runs) if names[0] == FINE_TUNING}
    return Side(name, recipes, _records(graph, runs), _aggregates(graph))


def _git(root: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=False)
    except OSError as error:
        reason = f"git: {error.strerror}; commits can be compared only with git installed"
        raise PubmillError(reason) from None


def _commit(named: str, root: Path) -> str | None:
    """Return the hash of a commit, or None if git knows no such commit."""
    if named.startswith("-"):
        return None
    answer = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
    return answer.stdout.decode().strip() if answer.returncode == 0 else None


def _side_of_commit(name: str, commit: str, context: Context, graph: Graph) -> Side:
    """Return the recipes of the study by the specs of a commit, and its records that this commit made."""
    packed = _git(context.root, "archive", "--format=tar", commit, "specs", "studies", "config.yaml")
    if packed.returncode:
        raise PubmillError(f"{name}: the commit has no specs, studies and config.yaml, so nothing to compare")
    with tempfile.TemporaryDirectory(prefix="pubmill-commit-") as folder:
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        try:
            then = _graph(Path(folder), context.study, context.settings)
            recipes = dict(_recipes(then, sorted(set(_requested(then)))))
        except PubmillError as error:
            lines = str(error).replace(f"{folder}/", "").splitlines()
            raise PubmillError(
                f"{name}: the present code cannot read the specs of study {context.study} there: "
                f"{' '.join(lines[:2])}; compare commits whose specs it can read, or folders of their runs"
            ) from None
    runs = {
        run: [path for path in paths if read_json(path).get("commit") == commit]
        for run, paths in _records(graph, sorted(set(_requested(graph)))).items()
    }
    return Side(name, recipes, {run: paths for run, paths in runs.items() if paths}, _aggregates(graph))


class Paired(NamedTuple):
    """Pairs of left and right names, and the names without a partner on each side."""

    both: list[tuple[Names, Names]]
    left: list[Names]
    right: list[Names]


def paired(left: Iterable[Names], right: Iterable[Names]) -> Paired:
    """Pair names. Those of different lengths or kinds never belong together."""
    sides = sorted(left), sorted(right)
    pairs = Paired([], [], [])
    for kind in dict.fromkeys((len(names), *_kind(names)) for side in sides for names in side):
        first, second = ([names for names in side if (len(names), *_kind(names)) == kind] for side in sides)
        ignored = _differing_places(first, second)
        ours, theirs = (
            {tuple(name for place, name in enumerate(names) if place not in ignored): names for names in side}
            for side in (first, second)
        )
        pairs.both.extend((ours[key], theirs[key]) for key in ours if key in theirs)
        pairs.left.extend(ours[key] for key in ours if key not in theirs)
        pairs.right.extend(theirs[key] for key in theirs if key not in ours)
    return pairs


def _kind(names: Names) -> Names:
    """Return the kind of a recipe; runs have none."""
    return names[:1] if len(names) != 4 else ()


def _differing_places(first: Sequence[Names], second: Sequence[Names]) -> set[int]:
    """Return the positions where all names of a side share a value, and the two sides' values differ."""
    if not first or not second:
        return set()
    values = [[set(of_place) for of_place in zip(*side, strict=True)] for side in (first, second)]
    places = enumerate(zip(*values, strict=True))
    return {place for place, (a, b) in places if len(a) == len(b) == 1 and a != b}
