"""Do steps and a prediction of each architecture and kind of task on the pretended device.

LD_PRELOAD=LIBRARY python tests/gpu/trace_architectures.py [ARCHITECTURE ...]

Prints a JSON object, architecture -> task -> as trace_finetuning.py.
"""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gpu.finetuning_cases import IN_FLOAT32, MAKERS, RECIPES
from tests.gpu.pretended_cuda import pretend
from tests.gpu.trace_finetuning import outcome, watched, watched_unrecorded
from tests.unit.finetuning.encoder_families import ARCHITECTURES, save_encoder

WIDTH = 64
"""Tokens that a tiny encoder takes."""


def main() -> None:
    found = {}
    with tempfile.TemporaryDirectory() as name:
        for family in sys.argv[1:] or ARCHITECTURES:
            folder = save_encoder(Path(name) / family, family)
            work = watched_unrecorded if family in IN_FLOAT32 else watched
            with pretend():
                found[family] = {
                    task: outcome(replace(RECIPES[task], max_length=WIDTH), folder, work) for task in MAKERS
                }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
