"""`verify.py` is one file that needs nothing but numpy."""

import ast
import subprocess
import sys
from pathlib import Path

from pubmill.extras.proof.assembling import MODULES, VERIFIER, assembled
from pubmill.extras.proof.verifier.container import unpack
from pubmill.storage.result_paths import BELOW


def test_it_imports_the_standard_library_and_numpy() -> None:
    tree = ast.parse(assembled(), feature_version=(3, 9))
    imports = [one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom)]
    names = {(getattr(one, "module", None) or one.names[0].name).split(".")[0] for one in imports}
    assert "numpy" in names and names - {"numpy"} <= sys.stdlib_module_names


def test_it_has_every_module_and_no_name_twice() -> None:
    assert {f"{name}.py" for name in MODULES} == {path.name for path in VERIFIER.glob("[!_]*.py")}
    tree = ast.parse(assembled())
    names = [one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)]
    values = [one.targets[0] for one in tree.body if isinstance(one, ast.Assign)]
    names += [
        one.target.id
        for one in tree.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]
    names += [one.id for one in values if isinstance(one, ast.Name)]
    assert len(names) == len(set(names)) > 100


def test_it_runs_alone(results: Path, data: bytes, tmp_path: Path) -> None:
    """In an empty folder, isolated from the checkout and the user's packages."""
    program, proof = tmp_path / "verify.py", tmp_path / "toy.proof.zip"
    program.write_bytes(unpack(data)["verify.py"])
    proof.write_bytes(data)
    digest = (results / f"{BELOW.proof('toy')}.sha256").read_text().split()[0]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-I", str(program), str(proof), *arguments]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run("--sha256", digest)
    assert done.returncode == 0, done.stderr
    assert "63 of 63 runs with a score, all 66 members" in done.stdout and f"SHA-256 {digest}" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("VERIFIED")
    done = run("--sha256", "0" * 64)
    assert done.returncode == 1 and "its SHA-256 is" in done.stderr
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    proof.write_bytes(damaged)
    done = run()
    assert done.returncode == 1 and done.stderr.startswith("REFUSED") and "Traceback" not in done.stderr
