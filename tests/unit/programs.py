"""Programs of `scripts/` run in the process of a test, which has imported what they need.

A separate process would first import torch and transformers for seconds.
"""

import io
import runpy
import sys
from contextlib import redirect_stderr
from unittest.mock import patch

from tests.conftest import ROOT


def run_program(name: str, *arguments: object) -> str:
    """Run a program as its command line does, and return its messages; an error raises SystemExit."""
    messages = io.StringIO()
    line = [f"scripts/{name}.py", *map(str, arguments)]
    with patch.object(sys, "argv", line), patch.object(sys, "path", [*sys.path]), redirect_stderr(messages):
        runpy.run_path(str(ROOT / line[0]), run_name="__main__")
    return messages.getvalue()
