"""Doctor: which datasets and models of a study are available and from where, whether counts are right, what
this machine has, and what to do; with its output."""

import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import requests
from huggingface_hub.constants import HF_HUB_OFFLINE
from rich.console import Console
from rich.text import Text

from pubmill.errors import PubmillError
from pubmill.hardware.compilers import compiler_fault
from pubmill.inspection.data_checks import Place, places
from pubmill.messages import commands
from pubmill.messages.terminal_tables import BAD, DIM, GOOD, coloured, table
from pubmill.messages.wording import counted
from pubmill.planning.plan import hours, pretrainings
from pubmill.planning.plan_printing import shown
from pubmill.planning.required_files import TIMEOUT, HubModel, at_commit, is_cached
from pubmill.recipes import models
from pubmill.specs import DatasetSpec, File
from pubmill.stages import Graph
from pubmill.stages.availability import how_to_bring
from pubmill.stages.gpus import Gpus
from pubmill.storage.files import read_json
from pubmill.storage.model_folders import CONFIG
from pubmill.storage.release_pins import HUB, PINNED
from pubmill.storage.result_paths import STATE
from pubmill.storage.sources import path_in_mirror

AT_ONCE = 8


class Links(NamedTuple):
    """Result of checking links. `network`: False if no host answers, so that nothing is known. `dead`: URL ->
    what is wrong with it."""

    network: bool
    dead: Mapping[str, str]


class _NoAnswerError(Exception):
    """The host cannot be reached."""


def check_links(urls: Iterable[str]) -> Links:
    """Request every URL and return the dead links. One URL of each host is tried first; if the host does not
    answer, its other URLs are not requested."""
    by_host: dict[str, list[str]] = {}
    for url in dict.fromkeys(urls):
        by_host.setdefault(urlsplit(url).netloc, []).append(url)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        first = [of_host[0] for of_host in by_host.values()]
        known = dict(zip(first, threads.map(_link_fault, first), strict=True))
        silent = [url for url, fault in known.items() if isinstance(fault, _NoAnswerError)]
        if first and silent == first:
            return Links(False, {})
        for url in silent:
            known |= dict.fromkeys(by_host[urlsplit(url).netloc], known[url])
        others = [url for of_host in by_host.values() for url in of_host if url not in known]
        known |= zip(others, threads.map(_link_fault, others), strict=True)
    return Links(True, {url: str(fault) for url, fault in known.items() if fault is not None})


def _link_fault(url: str) -> str | _NoAnswerError | None:
    """Return None if the URL exists, else what is wrong. Some servers do not support HEAD, or forbid it;
    requesting one byte of the file answers as well."""
    fault = None
    try:
        for method, headers in (("HEAD", {}), ("GET", {"Range": "bytes=0-0"})):
            headers = {"User-Agent": "pubmill", **headers}
            with requests.request(
                method, url, headers=headers, timeout=TIMEOUT, stream=True, allow_redirects=True
            ) as response:
                if response.ok:
                    return None
                fault = f"{response.status_code} {response.reason}"
    except requests.exceptions.SSLError:
        return "no trusted connection"
    except (requests.ConnectionError, requests.Timeout):
        return _NoAnswerError(f"{urlsplit(url).netloc} does not answer")
    except requests.RequestException as error:
        return f"cannot be requested: {type(error).__name__}"
    return fault


@dataclass
class DatasetFinding:
    """State of one dataset.

    `available`: None if only the network has a file and links were not checked. `sources`: where the files
    come from -> how many. `counts`: a description; `counted`: whether the counts are as expected (None: not
    converted yet, or nothing is expected). `dead`: dead links; `to_do`: what to do.
    """

    dataset: str
    wanted: bool
    spec: DatasetSpec
    available: bool | None = True
    sources: Counter[str] = field(default_factory=Counter)
    counts: str = ""
    counted: bool | None = None
    dead: list[str] = field(default_factory=list)
    to_do: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        return self.available is not False and self.counted is not False


def linked(graph: Graph) -> list[str]:
    """Return the URLs of files that neither the results nor the mirror have, and those of the configurations
    of the study's hub models that are not here."""
    names = filter(graph.availability.exists, graph.specs.datasets)
    needed = (place for name in names for place in places(graph, name, in_results=True))
    urls = sorted({one.name for one in needed if one.found is None and isinstance(one.source, File)})
    wanted = [] if HF_HUB_OFFLINE else graph.table_models.wanted()
    absent = (name for name in wanted if not _is_made(graph, name) and not _is_cached(graph, name))
    weights = map(graph.models.weights, absent)
    return urls + [_link(one) for one in weights if isinstance(one, models.ReleasedWeights)]


def examine(graph: Graph, links: Links | None, configuration: Sequence[str] = ()) -> list[DatasetFinding]:
    """Examine every dataset; `links` is None if the network must not be used. `configuration`: the
    configuration's command-line options, which the printed commands repeat."""
    wanted, specs = set(graph.table_datasets.wanted()), sorted(graph.specs.datasets.items())
    findings = [DatasetFinding(name, name in wanted, spec) for name, spec in specs]
    for finding in findings:
        if not graph.availability.exists(finding.dataset):
            finding.available = False
            finding.counts = "not among the made-up data of this scale"
            finding.to_do.append(f"use another scale: {commands.pubmill('doctor', 'datasets')}")
            continue
        for place in places(graph, finding.dataset, in_results=True):
            _add_place(finding, place, graph, links)
        if finding.sources["absent"]:  # of the user's own files; mistakes in their settings come first
            mistakes = graph.availability.mistakes(finding.dataset)
            finding.to_do += mistakes
            for key, folder, files, _ in () if mistakes else graph.availability.absent(finding.dataset):
                apply = f"apply at {finding.spec.apply}; then " if finding.spec.apply else ""
                into = f"put them into {folder}" if folder else how_to_bring(key)
                finding.to_do.append(f"{apply}{into}. Files: {', '.join(files)}")
        _add_counts(finding, graph, configuration)
    return findings


def _add_place(finding: DatasetFinding, place: Place, graph: Graph, links: Links | None) -> None:
    """Add a source file; with a mirror, none is ever requested from the network."""
    if place.found is not None:
        finding.sources[place.found] += 1
        return
    url = place.name if isinstance(place.source, File) else None
    mirrored = path_in_mirror(url, graph.study.mirror) if url else None
    dead = links.dead.get(url) if links and url else None
    if dead:
        finding.dead.append(f"{url}: {dead}")
    silent = links is not None and not links.network
    if url and not (mirrored or dead or silent):
        finding.sources["network"] += 1
        if links is None and finding.available:
            finding.available = None
        return
    finding.sources["absent"] += 1
    finding.available = False
    if url and mirrored:
        finding.to_do.append(f"fetch {url} to {mirrored}")
    elif url and dead:
        below = url.removeprefix("https://")
        finding.to_do.append(f"find a copy elsewhere, and set `mirror:` to a folder that has it as {below}")
    elif url and (advice := "connect to the network, or set `mirror:`") not in finding.to_do:
        finding.to_do.append(advice)


def _add_counts(finding: DatasetFinding, graph: Graph, configuration: Sequence[str]) -> None:
    """Compare the counts in a conversion's card with those that the spec expects now."""
    path = Path(graph.paths.card(finding.dataset))
    if not path.is_file():
        finding.counts = "not converted yet"
        return
    try:
        counts: Mapping[str, Mapping[str, int | None]] = read_json(path)["counts"]
        differing = [
            f"{split} {measure}: expected {expected}, found {counts[split].get(measure, 0)}"
            for split, measures in finding.spec.expect.items()
            for measure, expected in measures.items()
            if counts[split].get(measure, 0) != expected
        ]
    except (PubmillError, KeyError, TypeError, AttributeError):
        differing = [f"{path} is damaged"]
    if differing:
        finding.counted = False
        finding.counts = "counts not as expected: " + "; ".join(differing)
        options = ("--forcerun", "convert")
        command = commands.run_files(str(path), configuration=configuration, options=options)
        finding.to_do.append(f"convert it again: {command}")
        return
    bare = [split for split in finding.spec.splits if not finding.spec.expect.get(split)]
    if len(bare) == len(finding.spec.splits):
        finding.counts = "converted; counts: nothing expected"
    else:
        finding.counted = True
        finding.counts = "counts as expected" + (f" (of {', '.join(bare)}: nothing expected)" if bare else "")


WHAT = {"folder": "a folder", "predictions": "a folder of predictions"}
"""Kind of weights that users supply -> its name in findings."""
COMMON_GPU = "H100"
"""The GPU whose hours are shown where this machine has none that specs/gpus.yaml lists."""


@dataclass(frozen=True)
class ModelFinding:
    """State of one model, and where it is from; `available` is False if it cannot be had from here, None if
    it can be made or fetched."""

    model: str
    source: str
    state: str = "ready"
    available: bool | None = True
    to_do: str | None = None

    @property
    def sound(self) -> bool:
        return self.available is not False


ABSENT = ("NOT AVAILABLE", False)
FETCHED = ("to be fetched", None)


def _link(weights: models.ReleasedWeights) -> str:
    return f"{HUB}/{weights.id}/resolve/{weights.revision or 'main'}/{CONFIG}"


def _is_made(graph: Graph, model: str) -> bool:
    return Path(graph.paths.model(model, CONFIG)).is_file()


def _is_cached(graph: Graph, model: str) -> bool:
    weights = graph.models.weights(model)
    if not isinstance(weights, models.ReleasedWeights):
        return False
    revision = weights.revision or graph.models.pin(model).get("revision")
    return is_cached(at_commit(HubModel(model, weights.id, revision), graph.study.mirror))


def examine_models(graph: Graph, links: Links | None, gpus: Gpus, mirror: str) -> list[ModelFinding]:
    """Examine every model in the study's tables of results. `links`: those of `linked`, None
    if the network must not be used; `mirror`: the command that fetches models on another machine."""
    return [_diagnose(name, graph, links, gpus, mirror) for name in graph.table_models.wanted()]


def _diagnose(name: str, graph: Graph, links: Links | None, gpus: Gpus, mirror: str) -> ModelFinding:
    weights = graph.models.weights(name)
    match weights:
        case models.ReleasedWeights() | models.ArchivedWeights():
            return _diagnose_release(name, weights, graph, links, mirror)
        case models.SuppliedWeights(local=None):
            return ModelFinding(name, f"asked while it runs: {weights.system.name}", *FETCHED)
        case models.LocalWeights() | models.SuppliedWeights():
            assert weights.local
            what, folder = f"{WHAT[weights.kind]} of your own", graph.folders.find(weights.local)
            if folder is not None and folder.is_dir():
                return ModelFinding(name, f"{what}, {folder}")
            return ModelFinding(name, what, *ABSENT, f"bring it: {how_to_bring(weights.local)}")
        case models.RandomWeights():
            return ModelFinding(name, f"random weights, recipe {weights.recipe}")
    source = f"pretrained here, recipe {weights.recipe}"
    steps = graph.models.last_steps([name])
    done = dict.fromkeys(steps, 0)
    for recipe in steps:
        for step in graph.pretrainings.steps(recipe):
            if Path(graph.paths.checkpoint(recipe, step, STATE)).is_file():
                done[recipe] = max(done[recipe], step)
    trainings = [] if _is_made(graph, name) else pretrainings(graph, gpus, steps, done)
    if not trainings:
        return ModelFinding(name, source)
    needed = hours(trainings, gpus)
    here = next((gpu for gpu in gpus.peaks for name in gpus_here() if gpu in name), COMMON_GPU)
    gpu = here if here in needed else next(iter(needed))
    behind = f" and {len(trainings) - 1} before it" if len(trainings) > 1 else ""
    source += f"{behind}: {shown(needed[gpu])} hours of one {gpu}"
    return ModelFinding(name, source, "to be trained", None)


def gpus_here() -> list[str]:
    """Return the names of this machine's GPUs, from NVIDIA's driver, as loading torch takes seconds."""
    command = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _diagnose_release(
    name: str,
    weights: models.ReleasedWeights | models.ArchivedWeights,
    graph: Graph,
    links: Links | None,
    mirror: str,
) -> ModelFinding:
    """Return the finding on released weights: at hand or still to fetch, and whether they are pinned."""
    pin = graph.models.pin(name)
    version = weights.version or pin.get(PINNED[weights.kind])
    state = f" at {version[:12]}" if version else ""
    if weights.version is None:
        note = f"the first download, {pin['found']}, is kept" if pin else "the first download will be kept"
        state += f", not pinned: {note}"
    if isinstance(weights, models.ArchivedWeights):
        source, url = f"the archive {weights.url}{state}", weights.url
        mirrored = path_in_mirror(url, graph.study.mirror)
        here = Path(graph.paths.source_of_url(url)).is_file() or (mirrored and mirrored.is_file())
        where = "in the results or the mirror"
    else:
        source, url, mirrored = f"the hub's {weights.id}{state}", _link(weights), None
        here, where = _is_cached(graph, name), "in the cache"
    if _is_made(graph, name):
        return ModelFinding(name, f"{source}, in the results")
    if here:
        return ModelFinding(name, f"{source}, {where}")
    if mirrored:
        return ModelFinding(name, source, *ABSENT, f"put it into the mirror as {mirrored}")
    if links is None or not links.network or (url.startswith(HUB) and HF_HUB_OFFLINE):
        return ModelFinding(name, source, "NOT HERE", False, f"fetch on a machine with a network: {mirror}")
    if fault := links.dead.get(url):
        to_do = f"{url}: {fault}. Put its files into a folder, and set that in the model's spec"
        return ModelFinding(name, source, *ABSENT, to_do)
    return ModelFinding(name, source, *FETCHED)


FROM = {
    "results": "taken already",
    "mirror": "in the mirror",
    "local_files": "files of your own",
    "network": "from the network",
    "absent": "not there",
}

STATES = {True: ("ready", GOOD), False: ("NOT AVAILABLE", BAD), None: ("to be fetched", DIM)}


def print_summary(
    to: Console, findings: Sequence[DatasetFinding], models: Sequence[ModelFinding], links: Links | None
) -> None:
    """Print how many of the study's datasets and models are ready, and whether links were checked."""
    wanted = [finding for finding in findings if finding.wanted]
    sound = {"dataset": [one.sound for one in wanted], "model": [one.sound for one in models]}
    parts = [f"{sum(some)} of {counted(len(some), noun)}" for noun, some in sound.items() if some]
    all_sound = all(map(all, sound.values()))
    of_study = f"{' and '.join(parts)} of the study" if parts else "the study needs no data"
    to.print(Text(f"Ready, to be fetched or to be trained: {of_study}", style=GOOD if all_sound else BAD))
    if links is not None and not links.network:
        to.print("There is no network: no host answers, so links were not checked.")
    if links is None:
        to.print("Links were not checked (--offline).")


def print_findings(to: Console, findings: Sequence[DatasetFinding], verbose: bool = False) -> None:
    """Print the datasets of the study and what to do; `verbose`: also licences, and the other datasets."""
    wanted = [finding for finding in findings if finding.wanted]
    others = [finding for finding in findings if not finding.wanted]
    for heading, listed in {"dataset": wanted, "other dataset": others if verbose else []}.items():
        made, lines = table(heading, "state", "files", "counts"), list[tuple[str, str]]()
        for one in listed:
            files = ", ".join(f"{number} {FROM[where]}" for where, number in one.sources.items() if number)
            state, counts = Text(*STATES[one.available]), coloured(one.counts, one.counted)
            made.add_row(one.dataset, state, files or "none", counts)
            notes = [f"{one.spec.access}; licence: {one.spec.licence}"] if verbose else []
            notes += [f"dead link: {link}" for link in one.dead]
            notes += [f"to do: {what}" for what in one.to_do]
            lines += [(note, one.dataset) for note in notes]
        if listed:
            to.print(made)
            _print_together(to, lines)
    if others and not verbose:
        to.print(f"{counted(len(others), 'other dataset')} and all licences: -v", style=DIM)


def _print_together(to: Console, lines: Sequence[tuple[str, str]]) -> None:
    """Print each line once, after the names that it is about."""
    names: dict[str, list[str]] = {}
    for line, name in lines:
        names.setdefault(line, []).append(name)
    for line, about in names.items():
        to.print(f"{', '.join(about)}: {line}", soft_wrap=True)


def print_models(to: Console, findings: Sequence[ModelFinding]) -> None:
    """Print a table of the models of the study's tables, and what to do; nothing if it has none."""
    if not findings:
        return
    made = table("model", "state", "source")
    for finding in findings:
        made.add_row(finding.model, Text(finding.state, STATES[finding.available][1]), finding.source)
    to.print(made)
    _print_together(to, [(f"to do: {one.to_do}", one.model) for one in findings if one.to_do])


def print_machine(to: Console) -> None:
    """Print which GPUs this machine has, and whether it has what compiles kernels for them."""
    gpus = gpus_here()
    found = Text(", ".join(gpus), style=GOOD) if gpus else Text("none here", style=DIM)
    to.print(Text.assemble("GPU: ", found, "" if gpus else ": trainings run on processors, far slower"))
    fault = compiler_fault()
    to.print(Text.assemble("C compiler for kernels of GPUs: ", STATES[not fault]))
    if fault:
        to.print(f"    {fault}", soft_wrap=True)
