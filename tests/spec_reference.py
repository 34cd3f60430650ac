"""The pages of docs/reference, from specs and code: commands, keys of specs, metrics, scorers and more.

`make docs` writes them. A key's description is in its class's docstring, as `- \\`key\\`: text` or, in
running text, as `\\`key\\`: text`.
"""

import dataclasses
import importlib
import inspect
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from benchmarks import speedrun_page
from pubmill.cli.app import APP, VERBS
from pubmill.convert.source_files import ConverterInput
from pubmill.corpus.filters import FILTERS
from pubmill.metrics import METRICS, SCORERS
from pubmill.metrics.scorers import PUBLISHED_SCORERS
from pubmill.planning.plan import recipes_at_full
from pubmill.planning.plan_printing import recipes_as_markdown
from pubmill.recipes import FinetuningRecipe, Objective
from pubmill.recipes.objectives import OBJECTIVES
from pubmill.specs import Specs, load
from pubmill.specs.corpus_specs import PretrainingSpec
from pubmill.specs.loading import KINDS, ScaleSpec
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.stages.gpus import read_gpus
from tests.markdown_tables import table

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = "<!-- Written by `make docs`; edit the docstrings instead. -->\n\n"
PAGES: dict[str, tuple[str, str, tuple[Any, ...]]] = {
    "study": ("Study", "`config.yaml` and `studies/NAME.yaml`", (Study,)),
    "datasets": ("Dataset", "`specs/datasets/NAME.yaml`", (KINDS["datasets"],)),
    "models": ("Model", "`specs/models/NAME.yaml`", (KINDS["models"],)),
    "protocols": ("Protocol", "`specs/protocols/NAME.yaml`", (KINDS["protocols"], FinetuningRecipe)),
    "tables": ("Table", "`specs/tables/PAPER/NAME.yaml`", (KINDS["tables"],)),
    "pretraining": ("Pretraining recipe", "`specs/pretraining/NAME.yaml`", (KINDS["pretraining"],)),
    "prompts": ("Prompts", "`specs/prompts/NAME.yaml`", (KINDS["prompts"],)),
    "corpora": ("Corpus", "`specs/corpora/NAME.yaml`", (KINDS["corpora"],)),
    "vocabs": ("Vocabulary", "`specs/vocabs/NAME.yaml`", (KINDS["vocabs"],)),
    "scales": ("Scale", "`specs/scales/NAME.yaml`", (ScaleSpec,)),
}
"""Page -> its title, its files, and the models that it describes."""
NAMES = r"`\w+`(?:,? (?:and )?`\w+`)*(?: \([^)]*\))?(?: null)?: "
"""Beginning of a description in a docstring: the names of one or more keys."""


def is_model(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind))


def models(kind: Any) -> Iterator[type]:
    """Yield the models within a type, each before those of its keys."""
    if is_model(kind):
        yield kind
        for inner in get_type_hints(kind, include_extras=True).values():
            yield from models(inner)
        return
    for inner in get_args(kind):
        yield from models(inner)


def keys(model: Any) -> dict[str, Any]:
    """Return the keys of a model with their defaults; `PydanticUndefined` for a required key."""
    if issubclass(model, BaseModel):
        return {
            name: f.get_default(call_default_factory=True, validated_data={})
            for name, f in model.model_fields.items()
        }
    return {
        field.name: PydanticUndefined
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        else field.default
        if field.default_factory is dataclasses.MISSING
        else field.default_factory()
        for field in dataclasses.fields(model)
    }


def descriptions(model: type) -> dict[str, str]:
    """Return the description of each key that the docstrings of a model and its bases give."""
    found: dict[str, str] = {}
    for one in reversed(model.__mro__):
        for item in re.split(r"\n *- |\n\s*\n(?:- )?", inspect.cleandoc(one.__doc__ or "")):
            found |= _described(re.sub(r"\s+", " ", item))
    return found


def _described(text: str) -> dict[str, str]:
    """Return key -> description for a text of a docstring such as "`a`, `b`: one; `c`: another."."""
    parts = re.findall(rf"(?:^|(?<=[.;:] )|(?<= ))({NAMES})(.*?)(?=[.;]? {NAMES}|$)", text)
    return {key: said.strip(" .;") for names, said in parts for key in re.findall(r"`(\w+)`", names)}


def type_text(kind: Any) -> str:
    """Return a type in the words of YAML."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return type_text(inner[0])
    if origin is Literal:
        return ", ".join(f"`{_yaml(value)}`" for value in inner)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_text(one) for one in inner))
    if origin in (tuple, list):
        return f"list of {type_text(inner[0])}"
    if origin is dict:
        return f"{type_text(inner[0])} → {type_text(inner[1])}"
    if is_model(kind):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", types.NoneType: "null"}
    return names.get(kind, "any") if isinstance(kind, type) else "any"


def _yaml(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_yaml, value))}]"
    return str(value) if value != "" else '""'


def default_text(value: Any) -> str:
    """Return a default as in YAML; "required" where there is none."""
    if value is PydanticUndefined:
        return "required"
    return f"`{_yaml(value)}`" if not is_model(type(value)) else "each key's own"


def section(model: Any) -> str:
    """Return the heading of a model, the first sentence of its docstring, and the table of its keys."""
    types_of, said = get_type_hints(model, include_extras=True), descriptions(model)
    rows = [
        (f"`{key}`", type_text(types_of[key]), default_text(default), said[key])
        for key, default in keys(model).items()
    ]
    intro = re.split(r"(?<=\.)\s", re.sub(r"\s+", " ", inspect.cleandoc(model.__doc__ or "")), maxsplit=1)[0]
    return f"## {model.__name__}\n\n{intro}\n\n{table('key|value|default|meaning', rows).rstrip()}"


def page(name: str) -> str:
    """Return a page: its title, its files, and a section for each model, first those of the file itself."""
    title, files, kinds = PAGES[name]
    found = dict.fromkeys(one for kind in kinds for one in models(kind))
    intro = f"# {title}\n\n{WRITTEN}The keys of {files}. An unknown key is an error, with file and line.\n"
    return "\n\n".join([intro.rstrip(), *map(section, found)]) + "\n"


def metrics() -> str:
    kinds = list(SCORERS)
    ordered = sorted(METRICS.values(), key=lambda one: kinds.index(one.kinds[0]))
    rows = []
    for one in ordered:
        kinds_and_tasks = ", ".join(one.kinds) + (f" ({', '.join(one.tasks)})" if one.tasks else "")
        chooses = "yes" if one.chooses else "no"
        rows.append((f"`{one.name}`", one.version, kinds_and_tasks, chooses, one.definition, one.source))
    return (
        f"# Metrics\n\n{WRITTEN}A dataset's `metric` chooses its weights, so it needs a dev score; a table's "
        "rows may name any.\n\n"
    ) + table("metric|version|kinds|dev score|what it counts|from", rows)


def scorers() -> str:
    rows = [
        (f"`{one.name}`", kind, ", ".join(one.tasks or ("all",)), one.definition, one.used)
        for kind, scorers in PUBLISHED_SCORERS.items()
        for one in scorers
    ]
    return (
        f"# Scorers\n\n{WRITTEN}Rules by which papers and their programs score the same predictions, often "
        "under the same name.\n\n"
    ) + table("scorer|kind|tasks|what it is|used by", rows)


def recipes() -> str:
    specs = load(ROOT / "specs", "full")
    return (
        f"# Pretraining recipes\n\n{WRITTEN}[Pretraining](../pretraining.md) explains the words.\n\n"
        f"{recipe_rows(specs)}\n## Costs\n\nAt full scale, as "
        "`.venv/bin/pubmill plan --recipes` prints it; [planning](../planning.md) says how it is counted.\n\n"
        f"{recipe_costs(specs)}"
    )


def converters() -> str:
    text = f"# Converters\n\n{WRITTEN}[Datasets](../datasets.md#known-formats) lists them by kind.\n"
    for path in sorted((ROOT / "pubmill/convert").glob("*.py")):
        module = importlib.import_module(f"pubmill.convert.{path.stem}")
        every = inspect.getmembers(module, inspect.isfunction)
        functions = [(name, one) for name, one in every if converts(one, module.__name__)]
        if functions:
            text += f"\n## {path.stem}\n\n{inspect.cleandoc(module.__doc__ or '')}\n"
        for name, one in functions:
            text += f"\n`pubmill.convert.{path.stem}:{name}`\n\n{inspect.cleandoc(one.__doc__ or '')}\n"
    return text


def converts(function: Any, module: str) -> bool:
    """Return whether a spec can name a function of a module, as its `converter:` or `writer:`."""
    parameters = [one.annotation for one in inspect.signature(function).parameters.values()]
    public = function.__module__ == module and not function.__name__.startswith("_")
    return public and (parameters == [ConverterInput] or function.__name__ == "write")


def filters() -> str:
    rows = [(f"`{one.__name__}`", inspect.cleandoc(one.__doc__ or "").replace("\n", " ")) for one in FILTERS]
    return (
        f"# Filters\n\n{WRITTEN}A document is rejected for the first reason that applies, in this order; the "
        "keys that set the filters are those of [SelectionRecipe](corpora.md#selectionrecipe).\n\n"
    ) + table("filter|what it keeps", rows)


def list_of_datasets() -> str:
    rows = [
        (f"`{name}`", one.task, one.access, in_cell(one.licence), in_cell("; ".join(one.conflicts)))
        for name, one in load(ROOT / "specs", "full").datasets.items()
    ]
    intro = f"# List of datasets\n\n{WRITTEN}[Datasets](../datasets.md) says how to get them.\n\n"
    return intro + table("dataset|task|access|licence|other forms and counts", rows)


RECIPE_COLUMNS = "recipe|paper|initial weights|masking, pairs and more|corpus|vocabulary|steps x batch"


def recipe_rows(specs: Specs) -> str:
    """Return the table of what each recipe trains, and how."""
    rows = (
        (f"`{one.name}`", one.paper or "", _initial_weights(one), _objective(one.recipe.objective),
         f"`{one.corpus}`", f"`{one.vocab}`", f"{one.recipe.steps:,} x {one.recipe.batch_size:,}")
        for one in specs.pretraining.values()
    )  # fmt: skip
    return table(RECIPE_COLUMNS, rows)


def _initial_weights(spec: PretrainingSpec) -> str:
    start = spec.start
    weights = f"`{start.model or start.recipe}`" if start else "random weights"
    step = f" at {start.step:,}" if start and start.step else ""
    return weights + step + (f", taught by `{spec.teacher}`" if spec.teacher else "")


def _objective(objective: Objective) -> str:
    """Return masking, pairs, and what differs from a masked language model of single documents."""
    last = objective.final_masking_rate
    named = [name for name in OBJECTIVES if getattr(objective, name)]
    whole = ["full"] if objective.sequences == "full" else []
    rates = [f"{objective.masking_rate:.0%} to {last:.0%}"] if last else []
    return ", ".join([objective.masking, objective.pairs, *whole, *named, *rates])


def recipe_costs(specs: Specs) -> str:
    """Return the table of what each recipe costs, at the measured share of a GPU's peak."""
    graph = checked_graph(Study(study="recipes", title="", scale="full", tables=()), specs)
    gpus = read_gpus(ROOT / "specs", ROOT / "benchmarks")
    return "\n".join(recipes_as_markdown(recipes_at_full(graph, gpus), gpus)) + "\n"


def verbs(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield words and command of each verb, in the order of the help; a verb may have verbs of its own."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for name, one in (inner or {}).items():
        yield from verbs(one, (*path, name))


def parameters(command: Any) -> list[tuple[str, str]]:
    """Return form and meaning of each argument and option except `--help`."""
    context = typer.Context(command)
    found = [one.get_help_record(context) for one in command.get_params(context) if one.name != "help"]
    return [record for record in found if record]


def in_cell(text: str) -> str:
    """Return a text as one line of a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def verb_section(path: tuple[str, ...], command: Any) -> str:
    """Return heading, description, usage and parameters of a verb."""
    usage = " ".join(("pubmill", *path, *command.collect_usage_pieces(typer.Context(command))))
    lines = [f"### {' '.join(path)}", f"`{usage}`", (command.help or "").strip()]
    if rows := [(in_cell(f"`{form}`"), in_cell(said)) for form, said in parameters(command)]:
        lines.append(table("argument or option|meaning", rows).rstrip())
    return "\n\n".join(lines)


def commands() -> str:
    """Return the page of every verb with its usage, arguments and options, from the command's own parser."""
    found = list(verbs(typer.main.get_command(APP)))
    parts = [
        "# Commands",
        WRITTEN.strip(),
        "Every verb of `.venv/bin/pubmill`, in the groups of its help. `demo`, `run` and `table` pass "
        "further options on to Snakemake. `.venv/bin/pubmill list tables` lists names as these verbs take "
        "them; `studies`, `datasets` and `models` are listed in the same way.",
    ]
    for group, names in VERBS.items():
        parts += [f"## {group}", *(verb_section(path, one) for path, one in found if path[0] in names)]
    return "\n\n".join(parts) + "\n"


MADE = (metrics, scorers, converters, filters, recipes, list_of_datasets, commands)
PAGE_NAMES = (*PAGES, *(one.__name__ for one in MADE), "speedrun")
"""The pages, without folder and ending."""


def pages() -> dict[str, str]:
    made = {name: page(name) for name in PAGES} | {one.__name__: one() for one in MADE}
    made["speedrun"] = speedrun_page.records_page(WRITTEN)
    return {f"reference/{name}.md": text for name, text in made.items()}
