"""The one file `verify.py`, from the modules of the verifier.

python -m pubmill.extras.proof.assembling > verify.py
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path

VERIFIER = Path(__file__).with_name("verifier")
MODULES = (
    "container", "forms", "metrics", "items", "resampling", "equivalence", "cells", "ranks", "structure",
    "verification", "command",
)  # fmt: skip
"""Modules in the order of their dependencies: each imports only earlier ones."""
HEAD = '''\
#!/usr/bin/env python3
"""Recompute every number of a study from its counts, and compare: cells, tests, ranks, verdicts.

    python verify.py STUDY.proof.zip [--sha256 DIGEST] [--jobs N]

Needs Python 3.9 or later and numpy, and no other file. It reads the archive and writes nothing. The archive
holds a copy of this program; run a copy that you trust, because a changed program can print anything.
docs/proof.md of pubmill describes what is checked. Apache License 2.0.
"""
'''
FIRST = """\
from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: processes are faster than threads here

"""


@cache
def assembled() -> str:
    """Return the text of `verify.py`."""
    imports: set[str] = set()
    bodies = []
    for name in MODULES:
        source = (VERIFIER / f"{name}.py").read_text(encoding="utf-8")
        lines, tree = source.splitlines(), ast.parse(source)
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                imports |= _kept_import(node) - {"import os"}
            elif node is not tree.body[0]:  # the docstring of the module
                continue
            end = node.end_lineno or node.lineno
            lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
        title = (ast.get_docstring(tree) or "").replace("\n", "\n# ")
        body = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines).strip())
        bodies.append(f"\n\n# {title}\n\n\n{body}\n")
    ordered = sorted(imports, key=lambda line: ("numpy" in line, line.startswith("from"), line))
    return HEAD + FIRST + "\n".join(ordered) + "\n" + "".join(bodies)


def _kept_import(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Return the imports of other packages, one name each."""
    if isinstance(node, ast.Import):
        return {ast.unparse(ast.Import([name])) for name in node.names}
    if node.module == "__future__" or (node.module or "").startswith("pubmill."):
        return set()
    return {ast.unparse(ast.ImportFrom(node.module, [name], 0)) for name in node.names}


if __name__ == "__main__":
    sys.stdout.write(assembled())
