"""The mutation check: which changes it makes, which tests it runs, and what it calls a survivor."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutations import trials
from tests.mutations.points import immaterial, mutations
from tests.mutations.selection import files_for, importers
from tests.mutations.trials import Checkout, copy_checkout, run, survivors

ROOT = Path(__file__).resolve().parents[2]
CHECKOUT = {
    "pubmill/__init__.py": "",
    "pubmill/sums/__init__.py": "",
    "pubmill/sums/counting.py": (
        "def doubled(number):\n    return number + number\n\n\ndef is_many(number):\n    return number > 10\n"
    ),
    "tests/__init__.py": "",
    "tests/conftest.py": "",
    "tests/unit/__init__.py": "",
    "tests/unit/sums/__init__.py": "",
    "tests/unit/sums/test_words.py": (
        "from pubmill.sums.counting import doubled, is_many\n\n\ndef test_words():\n"
        "    assert doubled(3) == 6 and not is_many(9) and is_many(12)\n"
    ),
    "tests/unit/sums/test_other.py": "def test_nothing():\n    pass\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in CHECKOUT.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "checkout"


def changes(folder: Path, text: str) -> list[tuple[str, str]]:
    (folder / "module.py").write_text(text)
    return [(found.old, found.new) for found in mutations(folder, Path("module.py"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = a < b", [("a < b", "(a <= b)")]),
        ("x = a is None", [("a is None", "(a is not None)")]),
        ("x = a + b ** c", [("a + b ** c", "(a - b ** c)"), ("b ** c", "(b * c)")]),
        ("x += y", [("x += y", "x -= y")]),
        ("x = a and b", [("a and b", "(a or b)")]),
        ("x = not a", [("not a", "(a)")]),
        ("x = a if b else c", [("b", "(not b)")]),
        ("if ready(): pass", [("ready()", "(not ready())")]),
        ("x = [a for a in b if a]", [("a", "(not a)")]),
        ("x = {'é': 3, 'b': True}", [("3", "(4)"), ("True", "(False)")]),
    ],
)
def test_operators_constants_and_conditions_are_changed(
    tmp_path: Path, text: str, expected: list[tuple[str, str]]
) -> None:
    assert changes(tmp_path, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""1 < 2"""',
        "x: Literal[1] = y",
        "def f(x: Literal[1]) -> Literal[2]: pass",
        "@cache(maxsize=3)\ndef f(): pass",
        "raise ValueError(1 + 1)",
        "assert a and b",
        "say(f'{1 + 1} of', 3)",
        "logs.warning('at %d', 3)",
        "x = f'{a or b}'",
        "class A(Stage):\n    version = 2\n    needs = Needs(2_000, 3)\n    size = Bytes(disk=5)",
        "x = y + 'text'",
        "zip(a, b, strict=True)",
        "if TYPE_CHECKING:\n    x = 1",
    ],
)
def test_texts_and_types_are_not(tmp_path: Path, text: str) -> None:
    assert changes(tmp_path, text) == []


def test_a_change_replaces_exactly_its_place(tmp_path: Path) -> None:
    text = "α = 'β'; x = 1 < y\nz = 2\n"
    (tmp_path / "module.py").write_text(text)
    found = mutations(tmp_path, Path("module.py"))
    assert [one.name for one in found] == ["module.py:1:1", "module.py:1:2", "module.py:2:1"]
    assert found[0].apply(text) == "α = 'β'; x = (1 <= y)\nz = 2\n"
    assert found[2].apply(text) == "α = 'β'; x = 1 < y\nz = (3)\n"


def test_the_closest_tests_come_first(checkout: Path) -> None:
    """Those of other rooms count if they import the module, or one that imports it."""
    folder = checkout / "tests/unit/tables"
    folder.mkdir()
    (checkout / "scripts").mkdir()
    for name, text in {
        "tests/unit/tables/test_a.py": "import pubmill.sums.counting\n",
        "tests/unit/tables/test_counting.py": "import pubmill.sums.totals\n",
        "tests/unit/sums/test_counting_more.py": "import pubmill.sums.counting\n",
        "tests/unit/sums/test_program.py": 'PROGRAM = "scripts/total.py"\n',
        "tests/unit/sums/test_totals.py": "from pubmill.sums import totals\n",
        "scripts/total.py": "from pubmill.sums.totals import total\n",
        "pubmill/sums/totals.py": "from pubmill.sums import counting\n",
    }.items():
        (checkout / name).write_text(text)
    assert files_for(Path("pubmill/sums/counting.py"), importers(checkout)) == [
        ["tests/unit/sums/test_counting_more.py"],
        ["tests/unit/sums/test_words.py"],
        ["tests/unit/tables/test_a.py"],
        ["tests/unit/sums/test_totals.py", "tests/unit/sums/test_program.py"],
        ["tests/unit/tables/test_counting.py"],
    ]
    of_package = files_for(Path("pubmill/sums/__init__.py"), importers(checkout))
    assert {Path(file).parent.name for group in of_package for file in group} == {"sums"}


def test_a_command_is_reached_by_the_tests_that_type_its_verb(checkout: Path) -> None:
    for name, text in {
        "pubmill/sums/count_all_command.py": "MOST = 3\n",
        "tests/unit/tables/test_typed.py": 'TYPED = ["pubmill", "count", "all"]\n',
        "tests/unit/tables/test_dashed.py": 'TYPED = ["count-all"]\n',
        "tests/unit/tables/test_none.py": 'TYPED = ["count", "some", "all"]\n',
    }.items():
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text(text)
    assert files_for(Path("pubmill/sums/count_all_command.py"), importers(checkout)) == [
        ["tests/unit/tables/test_dashed.py", "tests/unit/tables/test_typed.py"]
    ]


def test_a_program_is_reached_by_the_tests_that_run_it(checkout: Path) -> None:
    (checkout / "pubmill/sums/count.py").write_text("MOST = 3\n")
    (checkout / "tests/unit/sums/test_count.py").write_text('run_program("count", "--most", 3)\n')
    found = files_for(Path("pubmill/sums/count.py"), importers(checkout))
    assert found == [["tests/unit/sums/test_count.py"]]


def test_a_module_that_imports_by_name_reaches_its_room(checkout: Path) -> None:
    """The name may come from a spec."""
    (checkout / "pubmill/sums/by_name.py").write_text("from importlib import import_module\n")
    (checkout / "tests/unit/sums/test_by_name.py").write_text("import pubmill.sums.by_name\n")
    found = files_for(Path("pubmill/sums/counting.py"), importers(checkout))
    assert found[-1] == ["tests/unit/sums/test_by_name.py"]


def test_packages_are_copied_whatever_their_names_and_results_are_not(checkout: Path, tmp_path: Path) -> None:
    for name in (
        "pubmill/mirror/results.py",
        "results/demo/x",
        "tests/world/mirror/y",
        "pubmill/__pycache__/z",
    ):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).touch()
    copy = tmp_path / "copy"
    copy_checkout(checkout, copy)
    found = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    assert found == {*CHECKOUT, "pubmill/mirror/results.py", "tests/world/mirror/y"}


@pytest.mark.long
def test_only_what_no_test_notices_survives(checkout: Path) -> None:
    found = mutations(checkout, Path("pubmill/sums/counting.py"))
    before = {path: path.read_text() for path in checkout.rglob("*.py")}
    assert [(one.old, one.new) for one in survivors(checkout, found)] == [
        ("number > 10", "(number >= 10)"),
        ("10", "(11)"),
    ]
    assert {path: path.read_text() for path in checkout.rglob("*.py")} == before


def test_tests_that_never_end_do_not_pass(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LIMIT", 3)
    file = "tests/unit/sums/test_other.py"
    (checkout / file).write_text("def test_nothing():\n    while True:\n        pass\n")
    assert run(checkout, [file]).failure == f"{file}::test_nothing"


def test_a_crash_is_a_failure(checkout: Path) -> None:
    file = "tests/unit/sums/test_other.py"
    (checkout / file).write_text(
        "import os\n\n\ndef test_one():\n    pass\n\n\ndef test_two():\n    os.abort()\n"
    )
    assert run(checkout, [file]).failure == f"{file}::test_two"


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def test_words():\n    assert False\n", "tests/unit/sums/test_words.py::test_words"),
        ("assert False\n", "tests/unit/sums/test_words.py"),
    ],
)
def test_what_fails_without_mutations_catches_none(
    checkout: Path, capfd: pytest.CaptureFixture[str], text: str, name: str
) -> None:
    """The other tests of its file do."""
    file = checkout / "tests/unit/sums/test_words.py"
    file.write_text(f"import pubmill.sums.counting\n\n\n{text}")
    [first, *_] = mutations(checkout, Path("pubmill/sums/counting.py"))
    assert survivors(checkout, [first]) == [first]
    assert f"left out: {name}, which fails" in capfd.readouterr().err
    file.with_name("test_words_too.py").write_text(CHECKOUT["tests/unit/sums/test_words.py"])
    assert survivors(checkout, [first]) == []


def test_tests_start_with_one_thread_of_torch(checkout: Path, root: Path) -> None:
    """As in a run of pytest, and in the programs that tests start; others would end in other digits."""
    (checkout / "tests/unit/sums/test_other.py").write_text(
        "import torch\n\n\ndef test_threads():\n    assert torch.get_num_threads() == 1\n"
    )
    code = (
        "from pathlib import Path\nfrom tests.mutations import trials\n"
        f"folder = Path({str(checkout)!r})\ntrials._import_third_party(folder)\n"
        "assert trials.run(folder, ['tests/unit/sums/test_other.py']).failure is None"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, check=False)
    assert done.returncode == 0


def test_fast_files_come_first_once_their_times_are_known(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[list[str]] = []

    def passing(folder: Path, files: list[str], left_out: object = ()) -> trials.Run:
        tried.append(files)
        return trials.Run(None, {"slow": 9.0, "fast": 1.0})

    monkeypatch.setattr(trials, "run", passing)
    [first, *_] = mutations(checkout, Path("pubmill/sums/counting.py"))
    copy = Checkout(checkout)
    assert not copy.catches(first, [["slow", "new", "fast"]])
    assert not copy.catches(first, [["slow", "new", "fast"], ["other"]])
    assert tried == [["slow", "new", "fast"], ["new", "fast", "slow"], ["other"]]


def test_the_times_of_files_are_those_of_their_tests(checkout: Path) -> None:
    slow = "tests/unit/sums/test_other.py"
    (checkout / slow).write_text("import time\n\n\ndef test_nothing():\n    time.sleep(0.4)\n")
    seconds = run(checkout, [slow, "tests/unit/sums/test_words.py"]).seconds
    assert list(seconds) == [slow, "tests/unit/sums/test_words.py"] and seconds[slow] >= 0.4


@pytest.mark.parametrize("file", sorted(immaterial()))
def test_listed_lines_exist_once_and_are_left_out(file: str) -> None:
    lines = [line.strip() for line in (ROOT / file).read_text(encoding="utf-8").splitlines()]
    assert {line: lines.count(line) for line in immaterial()[file]} == dict.fromkeys(immaterial()[file], 1)
    left = {lines[mutation.line - 1] for mutation in mutations(ROOT, Path(file))}
    assert left and not left & immaterial()[file]
