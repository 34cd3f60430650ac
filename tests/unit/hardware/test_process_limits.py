"""Programs that read untrusted files end at a limit of memory, time or size, and say which one it was."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from pathlib import Path
from pubmill.hardware import process_limits as limits
from pubmill.errors import run
from pubmill.storage.files import writing

def main():
    {body}

{limit}
run(limits.limited(main))
"""


def said(root: Path, limit: str, body: str) -> tuple[int, str]:
    text = PROGRAM.format(limit=limit, body=body.replace("\n", "\n    "))
    done = subprocess.run([sys.executable, "-c", text], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("limit", "body", "expected"),
    [
        ("limits.MEMORY = 10**9", "bytes(2 * 10**9)", "needs more than 1,000,000,000 bytes of memory"),
        ("limits.SECONDS = 1", "while True: pass", "needs more than 1 s of processor time"),
        (
            "limits.WRITTEN = 10**6",
            "open({path!r}, 'wb').write(bytes(10**7))",
            "has more than 1,000,000 bytes",
        ),
        (
            "limits.WRITTEN = 10**6",
            "with writing(Path({path!r})) as file:\n    file.write_bytes(bytes(10**7))",
            "has more than 1,000,000 bytes",
        ),
    ],
)
def test_a_limit_is_named_in_one_message(
    root: Path, tmp_path: Path, limit: str, body: str, expected: str
) -> None:
    status, error = said(root, limit, body.replace("{path!r}", repr(str(tmp_path / "x"))))
    assert status == 1 and expected in error and "pubmill/hardware/process_limits.py" in error
    assert error.startswith("pubmill: error: ") and error.count("\n") == 1


def test_within_the_limits_nothing_changes_and_a_lower_one_holds(root: Path) -> None:
    lower = "import resource; resource.setrlimit(resource.RLIMIT_CPU, (50, 60))"
    body = "import resource\nprint(resource.getrlimit(resource.RLIMIT_CPU), file=sys.stderr)"
    assert said(root, lower, body) == (0, "(50, 60)\n")


def test_a_lower_limit_of_memory_is_named_as_the_users_own(root: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))"
    status, error = said(root, limit, "bytes(2 * 10**9)")
    assert status == 1 and "process_limits.py" not in error and error.count("\n") == 1
    assert "needs more than 1,000,000,000 bytes of memory; this is the limit of `ulimit -v`" in error


@pytest.mark.parametrize("name", ["convert", "parse_medline", "parse_pmc", "take_vocab"])
def test_programs_that_read_untrusted_files_are_limited(root: Path, name: str) -> None:
    assert re.search(
        r"^    run\(limited\(program\(main\)\)\)$", (root / f"scripts/{name}.py").read_text(), re.MULTILINE
    )
