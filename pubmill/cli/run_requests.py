"""Runs by Snakemake's command: what is checked before it starts, what a dry run prints, how a run ends. Dry
runs write nothing: they work in a temporary stand-in for the current folder."""

import importlib.util
import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from pubmill.cli import studies
from pubmill.cli.checkout import run_snakemake, show
from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import DRY_RUN, OWN, SETTINGS, VIEW
from pubmill.messages.progress import report_progress
from pubmill.messages.stage_groups import GROUPS, OTHER
from pubmill.messages.wording import SHOWN, counted, nearest, unknown
from pubmill.specs import scales
from pubmill.specs.study import study_of_scale
from pubmill.storage.result_paths import names_in, paths_of_scale

if TYPE_CHECKING:
    from pubmill.stages import Graph

DRY = {"-n", "--dry-run", "--dryrun"}
COPIED = (*OWN, *SETTINGS, VIEW.name, "tests/world/mirror")
"""Files and folders that verbs may change before a run; a dry run changes copies."""
STATE, RECORDS = ".snakemake", (".snakemake/metadata", ".snakemake/incomplete")
"""Snakemake's folder, and what it reads there to know which jobs are to run."""
OWN_EXECUTORS = ("local", "dryrun", "touch")
"""Executors that need no package beside Snakemake."""
KINDS = {"corpora": "corpus", "vocabs": "vocabulary", "pretraining": "recipe of pretraining"}
"""Kinds of specs whose word is not the folder's name without its `s`."""
LEFT_OUT_SHOWN = 6
FULL = 10_000_000
"""Bytes below which a disk counts as full."""
INTERRUPTED = 130
FAILED_CELLS = 3  # of pubmill.workflow.preparation, which takes a second to import


class Request(NamedTuple):
    """What a command asks for: the checkout, the whole configuration of a study, its files, and targets."""

    root: Path
    config: dict[str, Any]
    files: list[str]
    targets: list[str]

    def run(self, words: studies.Words, why: bool = False) -> int:
        """Check the request, and run Snakemake, or list the jobs of a dry run. Return the exit status.
        `words`: settings and options of the command; `why`: list why each job runs."""
        arguments = snakemake_words(self.targets, self.files, words)
        dry = not DRY.isdisjoint(words.options)
        if why and not dry:
            raise PubmillError("--why lists what makes jobs run, without running them: add -n")
        graph = self.checked_graph()
        show(commands.run(commands.program("snakemake"), *arguments))
        if dry:
            print_dry_run(self, graph, words.options, why)
            return 0
        pages = self.targets or [graph.paths.report(graph.study.study, "html")]
        of = f"study {graph.study.study} at scale {graph.study.scale}"
        report_progress(f"makes {', '.join(pages)} ({of}); Snakemake is looking for what is to be done")
        status = run_snakemake(*arguments)
        print("\n".join(end_lines(status, pages, graph)), file=sys.stderr)
        return status

    def checked_graph(self) -> "Graph":
        """Return the graph of the study; raise a `PubmillError` for a mirror, a folder, a target, published
        values or a place of the results that would only be an error of a job."""
        from pubmill.specs.study import check_study
        from pubmill.stages import checked_graph, published_values
        from pubmill.tables.published_values import check_published

        graph = checked_graph(*check_study(self.config, studies.specs_folder(), self.files))
        if wrong := [text for file in self.targets for text in wrong_target(file, graph)]:
            raise PubmillError("\n".join(wrong))
        named = (one for file in self.targets for one in names_in(graph.paths.below(file)))
        graph.availability.check(*dict.fromkeys(name for kind, name in named if kind == "datasets"))
        for table in graph.requests.result_tables():
            recipe = graph.tables.recipe(table)
            if not recipe.own:  # A table of one's own has some of the rows only.
                check_published(Path(published_values(table, studies.specs_folder())), recipe)
        check_writable(Path(graph.results))
        return graph


def snakemake_words(targets: Sequence[str], configfiles: Sequence[str], words: studies.Words) -> list[str]:
    """Return the arguments of Snakemake: targets, then the profile, then the configuration and options."""
    given, profile = list(words.options), ["--profile", commands.profile()]
    if "--profile" in given:
        check_executor(given)
        value, profile = slice(given.index("--profile") + 1, given.index("--profile") + 2), []
        given[value] = map(commands.profile, given[value])
    options = commands.configuration_options(configfiles, words.settings)
    return [*targets, *commands.snakefile(), *profile, *options, *given]


def check_executor(options: Sequence[str]) -> None:
    """Raise a `PubmillError` if the profile does not exist, or submits jobs by a package or a program that is
    not installed."""
    from pubmill.planning.cluster_plan import read_profile

    profile = "".join(options[options.index("--profile") + 1 :][:1])
    executor = read_profile(profile).get("executor")
    module = f"snakemake_executor_plugin_{str(executor).replace('-', '_')}"
    if executor not in (None, *OWN_EXECUTORS) and importlib.util.find_spec(module) is None:
        install = commands.run(commands.program("pip"), "install", f"snakemake-executor-plugin-{executor}")
        raise PubmillError(f"{profile} submits jobs by a package that is not installed: {install}")
    if executor == "slurm" and DRY.isdisjoint(options) and shutil.which("sbatch") is None:
        raise PubmillError(
            f"{profile} submits jobs to Slurm, but this machine has no sbatch; start the run on a login node "
            f"of the cluster, or take another profile: {commands.profile()}"
        )


def check_writable(results: Path) -> None:
    """Raise a `PubmillError` if nothing can be written below the results, which need not exist yet."""
    there = next(folder for folder in (results, *results.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise PubmillError(f"{there} is not a folder that you can write to; set `results:` to another one")


def wrong_target(file: str, graph: "Graph") -> Iterator[str]:
    """Yield why no rule makes a requested file: the wrong scale, or a name that no spec has."""
    from pubmill.stages.stage import requested_reports

    study, folder = graph.study, studies.studies_folder()
    for scale in scales(folder.parent / "specs"):
        if scale != study.scale and file.startswith(paths_of_scale(scale, study.results).at("")):
            options = commands.configuration_options(study_of_scale(scale, folder, file))
            command = commands.run_files(file, configuration=options)
            yield (
                f"{file}: the configuration has scale {study.scale}, but the path has scale {scale}. "
                f"Run: {command}"
            )
            return
    further = {"tables": [*graph.specs.fact_tables], "protocols": ["off-the-shelf"]}
    below = graph.paths.below(file)
    for kind, name in names_in(below):
        known = [*getattr(graph.specs, kind), *further.get(kind, ())]
        if name not in known:
            yield f"{file}: {unknown(KINDS.get(kind, kind.removesuffix('s')), name, known)}"
            return
    on_request = (graph.paths.report(graph.study.study, ending) for ending in requested_reports().values())
    everything = list(dict.fromkeys([*graph.scope.everything(), *on_request]))
    beside = {str(Path(graph.paths.below(one)).parent) for one in everything}
    if below == file or (str(Path(below).parent) in beside and file not in everything):
        listed = "\n  ".join(nearest(file, everything)[:SHOWN])
        yield f"{file}: no rule makes this file. The nearest:\n  {listed}"


def print_dry_run(request: Request, graph: "Graph", options: Sequence[str], why: bool) -> None:
    """Print the jobs of a run by stage and rule, what they cost, and what is left out; with `why`, each job
    with Snakemake's reason."""
    from pubmill.planning.plan import jobs_of_study, make_plan, search_lines
    from pubmill.planning.plan_printing import answer
    from pubmill.stages.stage import group_of

    others = [option for option in options if option not in DRY]
    jobs = jobs_of_study(request.root, request.config, request.targets, others)
    left_out = graph.left_out()
    if len(left_out) > LEFT_OUT_SHOWN + 1 and not why:
        left_out = [*left_out[:LEFT_OUT_SHOWN], f"and {len(left_out) - LEFT_OUT_SHOWN} more left out (--why)"]
    if not jobs:
        print("\n".join(["Nothing to be done.", *left_out]))
        return
    gpus = studies.measured_gpus()
    lines = [f"{counted(len(jobs), 'job')} would run:"]
    for group in (*GROUPS, OTHER):  # the jobs of a stage, by rule where it has several
        rules = Counter(job.rule for job in jobs if group_of(job.rule) == group)
        if rules:
            of = ", ".join(f"{rule} {number}" for rule, number in rules.items())
            lines.append(
                f"  {group:<11} {rules.total():>6,}" + (f"  ({of})" if list(rules) != [group] else "")
            )
    lines += [*left_out, *search_lines(jobs, graph)]
    reasons = (line for job in jobs for line in (f"{job.text}", f"  {job.reason}") if why)
    print("\n".join([*lines, *answer(make_plan(jobs, graph, gpus), gpus), *reasons]))


def end_lines(status: int, pages: Sequence[str], graph: "Graph") -> list[str]:
    """Return the last lines of a run: what was made, or how to go on."""
    there = [page for page in pages if Path(page).is_file()]
    if status in (0, FAILED_CELLS):
        return [f"made, to read: {page}" for page in there]
    again = f"go on with the same command: {commands.pubmill(*sys.argv[1:])}"
    if status == INTERRUPTED:
        return [f"pubmill: interrupted; what is finished is kept; {again}"]
    places = {str(place) for place in (Path(graph.results), Path.cwd()) if place.exists()}
    full = sorted(place for place in places if shutil.disk_usage(place).free < FULL)
    return [
        *(f"pubmill: the disk of {place} is full, which makes jobs fail: free some space" for place in full),
        f"pubmill: not made: {', '.join(pages)}; what is finished is kept; when the fault is corrected, "
        f"{again}",
    ]


def writes_nothing_if_dry(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that, given an option of `DRY`, runs in a stand-in for the current folder."""

    @wraps(verb)
    def run(**given: Any) -> None:
        with nullcontext() if DRY.isdisjoint(given["context"].args) else stand_in():
            verb(**given)

    return run


@contextmanager
def stand_in() -> Iterator[None]:
    """Work in a temporary folder with copies of `COPIED` and links to all else, also beside the folder."""
    here = Path.cwd()
    with TemporaryDirectory(prefix="pubmill-dry-run-") as made:
        folder = Path(made).resolve() / here.name
        for path in here.parent.iterdir():
            (folder.parent / path.name).symlink_to(path)
        folder.unlink()
        folder.mkdir()
        _fill(here, folder, "")
        os.environ[DRY_RUN] = "1"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            del os.environ[DRY_RUN]


def _fill(real: Path, folder: Path, below: str) -> None:
    """Fill a folder of the stand-in, whose path in it is `below`."""
    for path in real.iterdir():
        name, made = f"{below}{path.name}", folder / path.name
        if name in COPIED:
            shutil.copytree(path, made, symlinks=True) if path.is_dir() else shutil.copy2(path, made)
        elif any(one.startswith(f"{name}/") for one in (*COPIED, *RECORDS)):
            made.mkdir()
            _fill(path, made, f"{name}/")
        elif name in RECORDS or not name.startswith(STATE):
            made.symlink_to(path)
