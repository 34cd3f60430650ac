"""The configuration of a study: which part of the specs, at which scale, and where files are."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.installation import root
from pubmill.messages.progress import report_progress
from pubmill.messages.wording import counted, unknown
from pubmill.recipes.problems import dotted_key, nearest_keys, problem_text
from pubmill.recipes.recipe_types import Name
from pubmill.specs import RecipeWeights, Specs, load, strict_yaml
from pubmill.specs.loading import KINDS
from pubmill.specs.own_settings import HyperparameterChoice, with_own_settings
from pubmill.specs.pretraining_checks import faults_of_pretrainings
from pubmill.specs.spec_types import SpecFaultsError, Strict
from pubmill.storage import name_patterns as names

DEMO = "demo"
"""The study of config.yaml itself, which needs no file, and its scale."""


class Author(Strict):
    """The person responsible for a study's results.

    - `name`: the author's name.
    - `orcid`: the author's ORCID, as an address.
    """

    name: Annotated[str, Field(min_length=1)]
    orcid: Annotated[str, Field(pattern=r"^https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX]$")]


class ServerLicence(Strict):
    """The permission to send the text of a credentialed dataset to a third-party server.

    - `server`: its address, as the model's spec has it.
    - `statement`: why the dataset's licence allows it, such as the agreement with the service; it is shown
      beside the scores.
    """

    server: Annotated[str, Field(pattern=r"^https://[^\s@]+$")]
    statement: Annotated[str, Field(min_length=1)]


class Study(Strict):
    """config.yaml and its overlays: which part to run and where files are, never a recipe.

    `datasets` may also name the folds of a protocol. `pretrain`: models that are pretrained here although the
    scale prefers their released weights. `keep_models`: keep the fine-tuned model of each run, so
    that it can predict again. `author`: the person responsible, for what is published of the results.

    - `study`: the study's name, and that of its report.
    - `title`: the title of its report.
    - `scale`: how much of each recipe is run.
    - `tables`: the tables to make.
    - `models`: models that are run, and added as columns; null: every model of the tables.
    - `datasets`: datasets, or folds of a protocol, that are run; null: every dataset of the tables.
    - `search`: by which models hyper-parameters are searched: those of the `protocol`, or by each model that
      is run for itself (`own`).
    - `choice`: hyper-parameters that are taken in place of a search; null: they are searched.
    - `results`: the folder of the results.
    - `extras`: what extras make beside the report, by the words after `pubmill run STUDY` that request it.
    - `own_tables`: a name for tables of one's own, as `pubmill table` makes them; they lie in
      tables/STUDY+NAME, and no report shows them; empty: the tables of the study.
    - `mirror`: a folder with HOST/PATH for each address, in place of the network; null: the network.
    - `save_minutes`: how often a running pretraining saves itself.
    - `local_files`: folders of your own, by the key that a spec names.
    - `server_licences`: credentialed dataset -> the third-party server to which its text may be sent.
    - `container`: the image in which jobs run with `--sdm apptainer`: a file (.sif), or an address such as
      docker://HOST/NAME@sha256:DIGEST; null: none.
    """

    study: Annotated[str, Field(pattern=f"^{names.STUDY}$")]
    title: str
    scale: Name
    tables: tuple[str, ...]
    models: tuple[Name, ...] | None = None
    datasets: tuple[Name, ...] | None = None
    search: Literal["protocol", "own"] = "protocol"
    choice: HyperparameterChoice | None = None
    pretrain: tuple[Name, ...] = ()
    results: Annotated[str, Field(pattern=f"^{names.FOLDER}$")] = "results"
    own_tables: Annotated[str, Field(pattern=r"^[a-z0-9.+=@-]*$", max_length=200)] = ""
    mirror: str | None = None
    save_minutes: float = 10
    keep_models: bool = False
    extras: tuple[Name, ...] = ()
    author: Author | None = None
    local_files: dict[str, str] = Field(default_factory=dict)
    server_licences: dict[Name, ServerLicence] = Field(default_factory=dict)
    # Snakemake doesn't quote it.
    container: Annotated[str, Field(pattern=r"^[A-Za-z0-9_./][A-Za-z0-9_./:@%+=,-]*$")] | None = None

    def faults(self) -> Iterator[str]:
        if self.choice and self.search != "protocol":
            yield "with a `choice` nothing is searched: remove `search` or `choice`"


def check_files(files: Iterable[str | Path]) -> None:
    """Raise a `PubmillError` for what Snakemake accepts silently (duplicate keys, of which it uses the last;
    `__use_yte__`, whose expressions are Python), and for empty files, whose name its message lacks."""
    errors: list[str] = []
    for file in files:
        faults: list[str] = []
        document = strict_yaml.read(Path(file), str(file), faults)
        if not document.value and not faults:
            faults.append(f"{file}:1: empty; expected the keys of a study, such as `tables:`")
        errors += faults
        if "__use_yte__" in document.value:
            place = document.where(("__use_yte__",))
            errors.append(f"{place}: __use_yte__: expressions are not evaluated; write the values out")
    if errors:
        raise PubmillError("\n".join(errors))


OF_THE_DEMO = frozenset({"title", "scale", "tables", "models", "datasets", "mirror"})
"""Keys of config.yaml that describe its own study, the demo."""


def without_demo(
    merged: dict[str, Any], base: Mapping[str, Any], given: Set[str], files: Iterable[str | Path] = ()
) -> dict[str, Any]:
    """Return a merged configuration without the values of config.yaml's own study, the demo.

    `base`: config.yaml; `given`: the keys that `files` or settings over it set. A demo key that another study
    does not set gets the default of `Study`; a `PubmillError` names those without a default. A study at the
    demo's scale keeps the demo's mirror, which holds the files of that scale.
    """
    if merged.get("study") == base.get("study"):
        return merged
    own = OF_THE_DEMO if merged.get("scale") != base.get("scale") else OF_THE_DEMO - {"mirror"}
    fields = Study.model_fields
    left_out = [key for key in fields if key in own and key not in given]
    if lacking := [f"`{key}:`" for key in left_out if fields[key].is_required()]:
        strange = [
            f"{_where((key,), merged, files)}: {key}: unknown key; the nearest: "
            f"{', '.join(nearest_keys(Study, (key,)))}"
            for key in sorted(given - fields.keys())
        ]
        place = _where(("study",), merged, files)
        lacks = f"{place}: study {merged.get('study')} lacks {', '.join(lacking)}; write it into its file"
        raise PubmillError("\n".join(strange or [f"{lacks} (config.yaml has only the demo's)"]))
    return merged | {key: fields[key].default for key in left_out}


def check_study(
    config: dict[str, Any], folder: Path, files: Iterable[str | Path] = ()
) -> tuple[Study, Specs]:
    """Check the merged configuration of a run and load the specs at its scale. Mistakes in specs that it does
    not use are only reported. `files`: the files that were merged, to locate mistakes in messages."""
    try:
        study = Study.model_validate(config)
    except ValidationError as error:
        lines = [
            f"{_where(e['loc'], config, files)}: {dotted_key(e['loc'])}: {problem_text(e, Study)}"
            for e in error.errors()
        ]
        raise PubmillError("\n".join(lines)) from None
    file, _, line = _where(("study",), config, files).rpartition(":")
    if file and Path(file).stem not in (study.study, "config"):
        expected = f"study must be {Path(file).stem!r}, as the file is called (found {study.study!r})"
        raise PubmillError(f"{file}:{line}: {expected}")
    used = {kind: getattr(study, kind) or () for kind in ("tables", "models", "datasets")}
    used["models"] += study.pretrain
    specs = load_used(folder, study.scale, used)
    folds = {name: protocol for protocol in specs.protocols.values() for name in protocol.folds}
    known: dict[str, tuple[str, Collection[str]]] = {
        "tables": ("table", {**specs.tables, **specs.fact_tables}),
        "models": ("model", specs.models),
        "pretrain": ("model", specs.models),
        "server_licences": ("dataset", specs.datasets),
        "datasets": ("dataset", {**specs.datasets, **folds}),
    }
    dangling = [
        f"{_where((key,), config, files)}: {key}: {unknown(kind, name, of_kind)}"
        for key, (kind, of_kind) in known.items()
        for name in getattr(study, key) or ()
        if name not in of_kind
    ]
    if dangling:
        raise PubmillError("\n".join(dangling))
    return study, with_own_settings(with_own_weights(specs, study.pretrain), study)


def _where(key: tuple[int | str, ...], config: Mapping[str, object], files: Iterable[str | Path]) -> str:
    """Return the file and line of a key of the configuration, if a file has it with this value."""
    for path in map(Path, files if key else ()):
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        document = strict_yaml.read(path, str(shown), [])
        if key[0] in document.value and document.value[str(key[0])] == config.get(str(key[0])):
            return document.where(key)
    return "configuration"


def with_own_weights(specs: Specs, models: Iterable[str]) -> Specs:
    """Return the specs without the released weights of these models, so that their recipes are run."""
    own = {name: specs.models[name] for name in models}
    if lacking := [name for name, spec in own.items() if not isinstance(spec.weights, RecipeWeights)]:
        raise PubmillError(f"configuration: pretrain: no recipe makes the weights of {', '.join(lacking)}")
    changed = {name: spec.model_copy(update={"released": None}) for name, spec in own.items()}
    made = specs.model_copy(update={"models": {**specs.models, **changed}})
    released = specs.scale.prefer == "released"
    if faults := list(faults_of_pretrainings(made.pretraining, made.models, released)):
        lines = [f"configuration: pretrain: {kind}/{name}: {fault}" for kind, name, _, fault in faults]
        raise PubmillError("\n".join(lines))
    return made


def configuration_files(named: str, folder: Path) -> list[str]:
    """Return the configuration files of a study, given by path or by name in the folder of studies; none for
    the demo, which is config.yaml itself."""
    if named == DEMO:
        return []
    paths = [path for path in (Path(named), folder / f"{named}.yaml") if path.is_file()]
    if not paths:
        known = [DEMO, *(path.stem for path in folder.glob("*.yaml"))]
        raise PubmillError(f"{unknown('study', named, known)}. Name a file, or one of {folder.name}/")
    return [str(paths[0])]


def study_of_scale(scale: str, folder: Path, path: str) -> list[str]:
    """Return the file of a study at a scale, preferably one that lists the table `path`, or that of the paper
    in a result path; none for the demo, which needs no study file."""
    if scale == DEMO:
        return []
    of_scale = {file: study for file, study in _studies(folder).items() if study.get("scale") == scale}
    of_table = [file for file, study in of_scale.items() if path in (study.get("tables") or ())]
    of_paper = [file for file in of_scale if file.stem in Path(path).parts]
    return [str(root() / folder.name / file.name) for file in [*of_paper, *of_table, *of_scale][:1]]


def scale_of_table(table: str, folder: Path) -> str:
    """Return the scale of a study that lists a table: full if one of that scale does, or if none does."""
    listing = (study for study in _studies(folder).values() if table in (study.get("tables") or ()))
    scales = [study.get("scale", DEMO) for study in listing]
    return "full" if "full" in scales or not scales else scales[0]


def _studies(folder: Path) -> dict[Path, dict[str, Any]]:
    return {file: strict_yaml.read(file, file.name, []).value for file in sorted(folder.glob("*.yaml"))}


def load_used(folder: Path, scale: str, used: Mapping[str, tuple[str, ...]]) -> Specs:
    """Return the specs at a scale. Specs with mistakes are left out and reported if the study does not use
    them; else all mistakes are raised as one error. `used`: kind -> names that the study lists. The specs
    that these refer to are also used, and so are models that name one of the tables."""
    without: dict[str, str] = {}  # path -> name
    mistakes: list[str] = []
    while True:
        try:
            specs = load(folder, scale, without)
        except SpecFaultsError as error:
            for line in error.lines:
                follows = any(path in line or f"'{name}'" in line for path, name in without.items())
                mistakes += [] if follows else [line]
            names = {file: file.removesuffix(".yaml").partition("/")[2] for file in error.files}
            if error.files <= without.keys() or any(_is_used(folder, one, used) for one in names.values()):
                raise SpecFaultsError(folder, mistakes) from None
            without |= {file: name.partition("/")[2] for file, name in names.items()}
        else:
            _report(tuple(mistakes), len(without))
            return specs


def _is_used(folder: Path, spec: str, used: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a faulty spec (`models/mine`) is a scale, is listed in `used`, or is a model that names
    a used table."""
    kind, _, name = spec.partition("/")
    if kind == "models" and (path := folder / f"{spec}.yaml").is_file():
        text = path.read_text(encoding="utf-8", errors="replace")  # which may be no YAML
        if any(table in text for table in used["tables"]):
            return True
    return kind not in KINDS or name in used.get(kind, ())


@cache
def _report(lines: tuple[str, ...], left_out: int) -> None:
    """Report files with mistakes that a study doesn't use, by their first mistake, once in a process, and how
    many specs are left out because they name them."""
    by_file: dict[str, list[str]] = {}
    for line in lines:
        by_file.setdefault(line.partition(".yaml")[0], []).append(line)
    for mistakes in by_file.values():
        more = f" and {len(mistakes) - 1} more" if len(mistakes) > 1 else ""
        report_progress(f"left out, and not used by the study: {mistakes[0]}{more}")
    if others := left_out - len(by_file):
        report_progress(f"left out because they name these: {counted(others, 'other spec')}")
