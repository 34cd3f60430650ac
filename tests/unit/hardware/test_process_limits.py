"""Programs that read untrusted files end at a limit of memory, time or size, and say which one it was."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pubmill.hardware import process_limits as limits

PROGRAM = """
import resource, sys
from pathlib import Path
from pubmill.hardware import process_limits as limits
from pubmill.errors import PubmillError, run
from pubmill.storage.files import writing

def main():
    {body}

{limit}
run(limits.limited(main))
"""


def said(root: Path, limit: str, body: str) -> tuple[int, str]:
    text = PROGRAM.format(limit=limit, body=body)
    done = subprocess.run([sys.executable, "-c", text], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("limit", "body", "expected", "ours"),
    [
        ("limits.MEMORY = 10**9", "bytes(2 * 10**9)", "needs more than 1,000,000,000 bytes of memory", True),
        ("limits.SECONDS = 1", "while True: pass", "needs more than 1 s of processor time", True),
        ("limits.WRITTEN = 10**6", "open(PATH, 'wb').write(bytes(10**7))", "more than 1,000,000 bytes", True),
        ("limits.WRITTEN = 10**6", "with writing(Path(PATH)) as file: file.write_bytes(bytes(10**7))",
         "has more than 1,000,000 bytes", True),
        # other errors, and lower limits, which are somebody else's, stay as they are
        ("", "raise PubmillError('mine') from KeyError('cause')", "pubmill: error: mine\n", False),
        ("", "open('/dev/full', 'w').write('x' * 10**5)", "No space left on device", False),
        ("resource.setrlimit(resource.RLIMIT_FSIZE, (1000, -1))", "open(PATH, 'wb').write(bytes(10**4))",
         "File too large", False),
        ("resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))", "bytes(2 * 10**9)",
         "needs more than 1,000,000,000 bytes of memory; this is the limit of `ulimit -v`", False),
    ],
)  # fmt: skip
def test_a_limit_is_named_in_one_message(
    root: Path, tmp_path: Path, limit: str, body: str, expected: str, ours: bool
) -> None:
    status, error = said(root, limit, body.replace("PATH", repr(str(tmp_path / "x"))))
    assert status == 1 and expected in error
    assert ("pubmill/hardware/process_limits.py" in error.splitlines()[-1]) == ours
    assert not ours or (error.startswith("pubmill: error: ") and error.count("\n") == 1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("HARD, HARD", "(86400, 86460)"), ("100, HARD", "(100, 160)"), ("50, 60", "(50, 60)"),
        ("86401, 86409", "(86400, 86409)"),
    ],
)  # fmt: skip
def test_a_program_may_compute_for_a_day_and_a_lower_limit_holds(root: Path, before: str, after: str) -> None:
    """Soft and hard limits; only root may raise a hard one above that of this process."""
    kind = "resource.RLIMIT_CPU"
    body = f"print(resource.getrlimit({kind}), file=sys.stderr)"
    limit = f"HARD = resource.getrlimit({kind})[1]; resource.setrlimit({kind}, ({before}))"
    assert said(root, limit, body) == (0, f"{after}\n")


def test_afterwards_the_process_has_its_own_limits_again() -> None:
    """Chromium, for one, reserves more memory than a program may."""
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE)
    before = [resource.getrlimit(kind) for kind in kinds]
    inside = limits.limited(lambda: resource.getrlimit(resource.RLIMIT_AS))()
    assert inside[0] <= limits.MEMORY and [resource.getrlimit(kind) for kind in kinds] == before
