"""Allowed imports between rooms (docs/architecture.md), and the border of the extras, in the syntax trees."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill import extras
from tests.imports import imported, reached

ROOMS: dict[str, str] = {
    "messages": "",
    "storage": "messages",
    "optimisers": "",
    "recipes": "messages optimisers storage",
    "examples": "recipes storage",
    "hardware": "messages recipes storage",
    "formats": "examples messages recipes storage",
    "metrics": "examples hardware recipes storage",
    "pretraining": "examples hardware messages optimisers recipes storage",
    "specs": "examples messages metrics pretraining recipes storage",
    "corpus": "messages recipes storage",
    "vocabs": "examples recipes storage",
    "convert": "examples formats messages recipes storage",
    "finetuning": "examples hardware messages metrics optimisers recipes storage",
    "prediction": "examples finetuning formats hardware messages recipes storage",
    "statistics": "metrics recipes",
    "tables": "examples messages metrics recipes specs statistics storage",
    "predictions": "convert examples formats hardware messages metrics recipes storage tables",
    "report": "examples hardware messages metrics recipes specs statistics storage tables",
    "stages": "examples messages metrics optimisers pretraining recipes specs storage",
    "jobs": "convert corpus examples finetuning hardware metrics prediction predictions pretraining"
    " recipes report storage tables vocabs",
    "planning": "messages optimisers pretraining recipes specs stages storage",
    "workflow": "hardware messages optimisers planning recipes specs stages storage tables",
    "inspection": "convert examples hardware messages metrics planning recipes report specs stages statistics"
    " storage tables",
    "new_specs": "convert examples formats inspection messages recipes specs storage tables",
    "library": "corpus examples finetuning formats messages metrics prediction predictions recipes statistics"
    " storage tables",
    "cli": "convert corpus examples finetuning formats hardware inspection library messages new_specs"
    " metrics planning prediction predictions recipes report specs stages statistics storage tables"
    " workflow",
    "extras": "cli convert corpus examples finetuning formats hardware inspection library messages new_specs"
    " job metrics planning pretraining prediction predictions recipes report specs stages statistics storage"
    " tables vocabs workflow",
}
"""Rooms from the lowest to the highest, each with the rooms that it may import."""
RULES_MAY = set("errors hardware inspection messages planning recipes specs stages storage workflow".split())
BARE = {
    "filelock", "huggingface_hub", "torch", "transformers", "numpy", "tokenizers", "safetensors", "tqdm",
    "yaml", "pubmill", "triton", "pydantic", "pydantic_core",
}  # fmt: skip
"""Packages that torch (triton: on GPUs) and transformers bring with them, pydantic, and pubmill itself."""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(root: Path, room: str) -> None:
    allowed = {room, "errors", *ROOMS[room].split()}
    for path in (root / "pubmill" / room).rglob("*.py"):
        for module in imported(path):
            parts = module.split(".")
            if parts[0] == "pubmill" and len(parts) > 1 and module != "pubmill.extras":
                assert parts[1] in allowed, f"{path} imports {module}"


def test_an_extra_imports_no_other_extra(root: Path) -> None:
    for path in (root / "pubmill/extras").rglob("*.py"):
        own = path.relative_to(root / "pubmill/extras").parts[0]
        for module in imported(path):
            of_extras = module.startswith("pubmill.extras.")
            assert not of_extras or module.split(".")[2] == own, f"{path} imports {module}"


def test_the_order_of_rooms_has_no_circle() -> None:
    above: set[str] = set(ROOMS)
    for room in reversed(ROOMS):
        above.discard(room)
        assert set(ROOMS[room].split()) - {"job"} <= above, f"{room} imports a room that is not below it"


def test_every_folder_is_a_room_and_only_two_modules_are_at_the_root(root: Path) -> None:
    package = root / "pubmill"
    assert {path.parent.name for path in package.glob("*/__init__.py")} == set(ROOMS)
    assert {path.name for path in package.glob("*.py")} == {"__init__.py", "errors.py", "job.py"}


def test_rules_import_the_graph_and_the_workflow_only(root: Path) -> None:
    for path in [root / "Snakefile", *(root / "rules").rglob("*.smk")]:
        for line in path.read_text().splitlines():
            if line.startswith(("import pubmill", "from pubmill")):
                module = line.split()[1]
                assert module.split(".")[1] in RULES_MAY, f"{path}: {line}"


def test_the_package_never_imports_the_scripts(root: Path) -> None:
    for path in (root / "pubmill").rglob("*.py"):
        assert not any(module.split(".")[0] == "scripts" for module in imported(path)), path


@pytest.mark.parametrize("script", ["pretrain", "finetune"])
def test_training_programs_need_only_torch_transformers_and_pydantic(root: Path, script: str) -> None:
    """The check follows every import of pubmill that the program reaches at start."""
    named = [*root.glob("pubmill/pretraining/learners.py"), *root.glob("pubmill/optimisers/*.py")]
    files = reached(root, [root / "scripts" / f"{script}.py", *named])
    assert len(files) > 3
    for path in files:
        for module in imported(path):
            top = module.split(".")[0]
            assert top in BARE or top in sys.stdlib_module_names, f"{path} imports {module}"


LIBRARIES = {"transformers", "pandas", "duckdb", "pyarrow", "scipy", "seqeval", "sklearn", "requests", "nltk"}


@pytest.mark.parametrize(
    "start, unneeded",
    [
        ("import pubmill.specs, pubmill.stages", {"torch", *LIBRARIES} - {"requests"}),
        (
            "from pubmill.finetuning.run import finetune",
            {"torch._dynamo", "torch.distributed.tensor", "sympy", *LIBRARIES},
        ),
        ("from pubmill.predictions import scores, inputs_without_gold, supplied", {"torch", "transformers"}),
        ("import pubmill.jobs.score", {"pandas"}),
    ],
    ids=["the Snakefile", "a fine-tuning, before it loads a model", "scoring", "a score"],
)  # fmt: skip
def test_starts_do_not_load_libraries_that_they_may_not_need(
    root: Path, start: str, unneeded: set[str]
) -> None:
    code = f"import sys\n{start}\nprint(*({unneeded!r} & sys.modules.keys()))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, capture_output=True, text=True)
    assert shown.stdout.split() == []


EXTRAS = {path.parent.name for path in Path(extras.__path__[0]).glob("*/__init__.py")}
ORDINARY = {"archive", "ask", "board"}
"""Words of English, which only count in the places where an extra is named."""
CORE = ("pubmill", "scripts", "rules", "profiles", "studies", "specs/scales", "Snakefile", "config.yaml")
FIELDS = ("specs/*.py", "recipes/*.py", "tables/*.py", "metrics/records.py", "storage/training_reports.py")
"""Modules whose classes are specs, recipes and records."""
ASKED = re.compile(r"^extras: \[[a-z, ]*\]")
"""The key of a study that asks extras for what they make."""
PROMPTED = "PromptedWeights"
"""The kind of model that an extra answers for. It is copied to recipes field by field (`project`)."""


def core_files(root: Path, *suffixes: str) -> list[Path]:
    """Return the files of the core with one of these suffixes ("": none)."""
    paths = [path for name in CORE for path in [root / name, *(root / name).rglob("*")] if path.is_file()]
    return [path for path in paths if path.suffix in suffixes and not {"extras", "_data"} & {*path.parts}]


def named_as_extra(name: str) -> re.Pattern[str]:
    """Return the pattern of the places where an extra is named: its modules, its verb, its stage."""
    places = rf"extras[./]{name}\b|pubmill {name}\b|graph\.{name}\b|\b{name}_(command|stages|section)\b"
    return re.compile(places if name in ORDINARY else rf"{places}|(?<![a-z]){name}(?![a-z])", re.IGNORECASE)


@pytest.mark.parametrize("name", sorted(EXTRAS))
def test_no_file_of_the_core_names_an_extra(root: Path, name: str) -> None:
    pattern = named_as_extra(name)
    for path in core_files(root, ".py", ".smk", ".yaml", ".j2", ".js", ".css", ".md", ""):
        file = str(path.relative_to(root))
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        assert [
            f"{file}:{number}: {line}" for number, line in lines if pattern.search(ASKED.sub("", line))
        ] == []


def fields(path: Path) -> dict[str, str]:
    classes = [one for one in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(one, ast.ClassDef)]
    return {
        one.target.id: of.name
        for of in classes
        for one in of.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and of.name != PROMPTED
    }


def test_no_field_of_the_core_is_read_by_extras_alone(root: Path) -> None:
    core = "\n".join(path.read_text("utf-8") for path in core_files(root, ".py", ".j2", ".smk", ""))
    beside = [*(root / "pubmill/extras").rglob("*.py"), *(root / "pubmill/extras").rglob("*.j2")]
    extra = "\n".join(path.read_text("utf-8") for path in beside)
    known: dict[str, str] = {}
    for pattern in FIELDS:
        for path in (root / "pubmill").glob(pattern):
            known |= fields(path)
    alone = [
        f"{of}.{name}"
        for name, of in known.items()
        if re.search(rf"\.{name}\b", extra) and not re.search(rf"\.{name}\b|[\"']{name}[\"']", core)
    ]
    assert len(known) > 300 and alone == []
