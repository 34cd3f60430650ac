"""Base classes of a study's graph: `GraphPart`, and `Stage`, a part that states each property of a rule once.
Rules read their inputs, parameters, resources and message from their stage. The groups of the display and the
plan, costs, versions, digests of records and the test that requires new versions are derived from stages."""

from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, NamedTuple, ParamSpec, TypeVar

import pubmill.stages
from pubmill import extras
from pubmill.errors import exit_with_message
from pubmill.messages.stage_groups import GROUPS, OTHER
from pubmill.stages.gpus import Gpus, Use
from pubmill.storage.result_paths import RunKey

if TYPE_CHECKING:
    from pubmill.stages.study_graph import Graph

HOUR, DAY = 60, 24 * 60
SLOWEST = "V100"
"""The graph does not know which GPU a job will get, so the slowest GPU of specs/gpus.yaml is assumed."""
MARGIN = 2.0
"""Requested time / expected time of a training job, because the share of a GPU's peak is an assumption."""
UNKNOWN = 8 * HOUR
"""Minutes of a training job whose operations are unknown."""
TEMPLATES = "pubmill/report/templates/*"
"""Files behind all pages and tables."""


class Needs(NamedTuple):
    """Resources of a job. `memory`: MB (10^6 bytes), including the Snakemake process that runs the job on its
    node; `minutes`."""

    memory: int
    minutes: int


class Seconds(NamedTuple):
    """Seconds of one core for one job, and the source of that figure."""

    seconds: float
    source: str


class Bytes(NamedTuple):
    """Bytes of a job: those that it downloads (of known size, of assumed size), and those that it leaves on
    disk (assumed). `unknown`: files to download of unknown size."""

    known: float = 0.0
    assumed: float = 0.0
    disk: float = 0.0
    unknown: int = 0


class Places(NamedTuple):
    """What commands name beside files of the graph: the checkout's programs, extras and specs, the results,
    and the option for the mirror. Nothing reruns if they move."""

    scripts: str
    extras: str
    specs: str
    results: str
    mirror: list[str]


def run_of(wildcards: Any) -> RunKey:
    """Return the run that wildcards identify."""
    return RunKey(wildcards.protocol, wildcards.model, wildcards.dataset, wildcards.setting)


ASSUMED = Seconds(5, "assumed: start-up, and little to do")
DEFAULT_NEEDS = Needs(1_000, HOUR)
"""More than the peak of most programs (200 MB, benchmarks/README.md) plus that of Snakemake (150 MB)."""


class GraphPart:
    """A part of the graph of a study."""

    def __init__(self, graph: "Graph") -> None:
        self.graph = graph
        self._study, self._specs, self._paths = graph.study, graph.specs, graph.paths
        self.cache: dict[object, Any] = {}  # of `cached` methods


Part = TypeVar("Part", bound=GraphPart)
Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")


def cached(
    method: Callable[Concatenate[Part, Arguments], Value],
) -> Callable[Concatenate[Part, Arguments], Value]:
    """Keep what a method of a part returns for its arguments; later calls return the kept value."""

    @wraps(method)
    def lookup(part: Part, /, *given: Arguments.args, **named: Arguments.kwargs) -> Value:
        key = (method, given, *named.items())
        if key not in part.cache:
            part.cache[key] = method(part, *given, **named)
        value: Value = part.cache[key]
        return value

    return lookup


Version = int | list[int]
Inputs = dict[str, str | list[str]]
"""Name -> file, or files."""


class Stage(GraphPart):
    """A rule. A subclass without a `name` only holds what its subclasses have in common.

    - `name`: the rule
    - `group`: the stages with which it is displayed, planned and drawn, one of `GROUPS`
    - `label`: what a job does, with wildcards in braces
    - `version`: raised when the output changes for the same input (CONTRIBUTING, "Stage versions")
    - `program`: the file that the rule starts, below the checkout
    - `read_by_name`: files that decide the output but that no import of the program leads to
    - `part_versions`: part of the stage, as in `parts_of` -> its version. Raised in place of `version` when
      only this part changed, it reruns only the jobs that use the part: `{"crf": 2}`, runs with a CRF
    - `needs`: memory and time that a job requests from a cluster; without a figure, assumed
    - `seconds`: seconds of one core, for plans
    - `words`: word after `pubmill run STUDY` -> ending of the file reports/STUDY.ENDING that it requests
    """

    name: ClassVar[str]
    group: ClassVar[str]
    label: ClassVar[str]
    version: ClassVar[int]
    program: ClassVar[str]
    read_by_name: ClassVar[tuple[str, ...]] = ()
    part_versions: ClassVar[Mapping[str, int]] = {}
    needs: ClassVar[Needs] = DEFAULT_NEEDS
    seconds: ClassVar[Seconds] = ASSUMED
    words: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        """Name the program after the rule, unless the stage or a stage that it extends names another. An
        extra's programs are in its folder."""
        if "name" in vars(cls) and not hasattr(cls, "program"):
            of_extra = cls.__module__.startswith("pubmill.extras.")
            folder = cls.__module__.rpartition(".")[0].replace(".", "/")
            cls.program = f"{folder}/programs/{cls.name}.py" if of_extra else f"pubmill/jobs/{cls.name}.py"

    def version_of(self, wildcards: Any) -> Version:
        """Return the version of a job: that of the stage, and those of the parts that it uses."""
        used = self.parts_of(wildcards) if self.part_versions else ()
        numbers = [number for part, number in sorted(self.part_versions.items()) if part in used]
        return [self.version, *numbers] if numbers else self.version

    def parts_of(self, wildcards: Any) -> Collection[str]:
        """Return the parts of the stage that a job uses, of those in `part_versions`."""
        return ()

    def inputs_of(self, wildcards: Any) -> Inputs:
        """Return the files that a job reads, by the names that the rule has for them."""
        return {}

    def recipe_of(self, wildcards: Any) -> Any:
        """Return all that determines the output of a job beside its inputs; the rule passes it as JSON."""
        return None

    @property
    def params(self) -> dict[str, Any]:
        """Return the rule's parameters, which rerun a job if they change: values, or functions of wildcards,
        which cost Snakemake time for each job; and `places`."""
        places = self.graph.places
        varies = self.part_versions or type(self).version_of is not Stage.version_of
        parameters: dict[str, Any] = {
            "places": lambda wildcards, output: places,  # not compared, as it may derive from outputs
            "version": exit_with_message(self.version_of) if varies else self.version,
        }
        if type(self).recipe_of is not Stage.recipe_of:

            def recipe(wildcards: Any) -> str:
                return self.graph.argument(self.recipe_of(wildcards))

            parameters["recipe"] = exit_with_message(recipe)
        return parameters

    def needs_of(self, wildcards: Any, gpus: Gpus) -> Needs:
        """Return the memory and time of a job."""
        return self.needs

    def targets(self) -> list[str]:
        """Return the files of an extra's stage that a study makes unless others are requested."""
        return []

    def reported(self) -> list[str]:
        """Return the files of an extra's stage that its section of the report shows (`study_report`)."""
        return []

    def bytes_of(self, wildcards: Any) -> Bytes:
        """Return the bytes that a job downloads and leaves on disk."""
        return Bytes()

    @property
    def resources(self) -> dict[str, Callable[[Any, int], int]]:
        """Return the rule's `mem_mb` and `runtime`: functions of wildcards and attempt. Memory doubles with
        each attempt; time is multiplied by the attempt's number."""

        def mem_mb(wildcards: Any, attempt: int) -> int:
            return int(self.needs_of(wildcards, self.graph.gpus).memory * 2 ** (attempt - 1))

        def runtime(wildcards: Any, attempt: int) -> int:
            return self.requested_minutes(self.needs_of(wildcards, self.graph.gpus).minutes * attempt)

        return {"mem_mb": exit_with_message(mem_mb), "runtime": exit_with_message(runtime)}

    def requested_minutes(self, minutes: int) -> int:
        """Return the minutes that a job requests from a cluster if it needs `minutes`."""
        return minutes


class BlockStage(Stage):
    """A rule with one job for each block of files of a corpus; `seconds` are those of one file."""


class TrainingStage(Stage):
    """A rule that trains a model. `use`: which share of a GPU's peak it reaches; `plan_line`: the name under
    which a plan adds up jobs, with wildcards in braces."""

    use: ClassVar[Use]
    plan_line: ClassVar[str]

    def operations(self, wildcards: Any) -> float | None:
        """Return the operations of a job; None if they are unknown."""
        raise NotImplementedError

    def share(self, wildcards: Any, gpus: Gpus) -> float:
        """Return the share of a GPU's peak that a job reaches."""
        raise NotImplementedError


def training_minutes(operations: float | None, share: float, gpus: Gpus) -> int:
    """Return twice the minutes that operations take on one GPU, and an hour at least."""
    if operations is None:
        return UNKNOWN
    return max(HOUR, round(MARGIN * 60 * gpus.hours(operations, share)[SLOWEST]))


def as_arguments(inputs: dict[str, str]) -> list[str]:
    """Return named inputs as a program's arguments."""
    return [word for name, path in inputs.items() for word in (f"--{name}", path)]


def published_values(table: str, specs: Path) -> str:
    """Return the path of a table's published values."""
    return spec_file(specs, f"tables/{table}.published.csv")


def spec_file(specs: Path, below: str) -> str:
    """Return the path of a file in the folder of specs. It is relative if it lies below the working folder,
    so that moving a checkout together with its results changes no parameter."""
    path = specs.resolve() / below
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


@cache
def stages() -> dict[str, type[Stage]]:
    """Return all stages, those of this package and those of the extras that are there, by the names of their
    rules, ordered by group."""
    kinds: dict[str, type[Stage]] = {}
    own = (import_module(f"pubmill.stages.{one.name}") for one in iter_modules(pubmill.stages.__path__))
    for module in (*own, *extras.modules("_stages")):
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Stage) and "name" in vars(kind):
                assert kinds.setdefault(kind.name, kind) is kind, f"two stages are called {kind.name}"
    order = list(GROUPS)
    return dict(sorted(kinds.items(), key=lambda one: order.index(one[1].group)))


def requested_reports() -> dict[str, str]:
    """Return the words by which stages' files beside the report are requested, with the files' endings."""
    return {word: ending for stage in stages().values() for word, ending in stage.words.items()}


def group_of(rule: str) -> str:
    """Return the group of a rule's stage."""
    return stages()[rule].group if rule in stages() else OTHER


def rules_by_group() -> dict[str, tuple[str, ...]]:
    """Return group -> its rules."""
    return {group: tuple(rule for rule in stages() if group_of(rule) == group) for group in GROUPS}
