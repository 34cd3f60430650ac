"""A shown number that does not follow from the counts is refused, although all hashes fit."""

import gzip
import io
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pubmill.extras.proof.verifier.container import SUMS, RefusedError, pack, sums, unpack
from pubmill.extras.proof.verifier.verification import Proof, check_proof, check_set
from tests.unit.extras.proof import toy_proof as toy

SHOWN = f"tables/{toy.TABLE}.json.gz"
COMPARED = f"tables/{toy.TABLE}.comparisons.json.gz"
BASIS = f"tables/{toy.TABLE}.basis.json.gz"
RUN = toy.record_path("ours", "words", 2)
Edit = Callable[[Any], object]


def check(data: bytes, folder: Path) -> dict[str, int]:
    path = folder / "proof.zip"
    path.write_bytes(data)
    return check_proof(str(path), 1)


def test_an_honest_proof_holds(data: bytes, tmp_path: Path) -> None:
    found = check(data, tmp_path)
    assert found == {
        "tables": 1, "test sets": 7, "cells": 32, "verdicts": 15, "tests": 14, "rankings": 3,
        "runs": 63, "runs by their items": 45,
    }  # fmt: skip


def test_a_proof_without_items_holds(results: Path, tmp_path: Path) -> None:
    found = check(toy.again(results, open_datasets=()), tmp_path)
    assert found["runs"] == 63 and found["runs by their items"] == 0


def with_another_table(data: bytes, edit: Edit) -> bytes:
    """Return a proof whose table refers to another one, with the same cells."""
    members, other = unpack(data), "gu2020/table07"
    basis, shown = toy.read(members, BASIS), toy.read(members, SHOWN)
    part = {"recipe": {**basis["recipe"], "table": "table07"}, "cells": shown["cells"]}
    edit(part["cells"])
    members[f"published/{other}.csv"] = members[f"published/{toy.TABLE}.csv"]
    return toy.edited(pack(members), BASIS, lambda content: content["others"].update({other: part}))


def test_the_cells_of_a_table_that_another_refers_to_are_checked_too(
    data: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = check(with_another_table(data, lambda cells: None), tmp_path_factory.mktemp("honest"))
    assert (found["tables"], found["cells"], found["verdicts"]) == (1, 64, 15)
    forged = with_another_table(data, set_to("ours", "words", "value", by=more))
    with pytest.raises(RefusedError, match="gu2020/table07 for gu2020/table06, ours, words, value"):
        check(forged, tmp_path_factory.mktemp("forged"))


def test_a_run_without_a_score_says_why(data: bytes) -> None:
    proof = Proof(data)
    score, failed, collapsed = proof.score(RUN, "entity_f1")
    assert (score, failed, collapsed) == (100 * proof.runs[RUN]["metrics"]["entity_f1"], None, False)
    proof.runs[RUN] |= {"failed": "diverged", "metrics": None, "collapsed": True}
    assert proof.score(RUN, "entity_f1") == (None, "diverged", False)
    assert proof.score(f"{RUN}x", "entity_f1") == (None, "no record", False)
    other = toy.record_path("ours", "words", 1)
    with pytest.raises(RefusedError, match=f"{other} has no macro_f1"):
        proof.score(other, "macro_f1")


def test_runs_on_different_examples_are_not_compared(data: bytes) -> None:
    proof, other = Proof(data), toy.record_path("bert", "topics", 1)
    assert proof.fold([[RUN], [RUN]], "entity_f1").models.tolist() == [0, 1]
    with pytest.raises(RefusedError, match=f"^{RUN} and others of its row were scored on different examples"):
        proof.fold([[RUN], [other]], "entity_f1")


@pytest.mark.parametrize("dataset", ["words", "topics", "pairs"])
def test_a_run_marked_as_collapsed_has_the_same_prediction_everywhere(data: bytes, dataset: str) -> None:
    """Equal predicted numbers may differ in their last digits, so those are not compared."""
    proof, run = Proof(data), toy.record_path("poor", dataset, 3)
    proof.runs[run]["collapsed"] = True
    number = proof.runs[run]["set"]
    if dataset == "pairs":
        assert check_set(proof, number) == {"test sets": 1, "runs": 9, "runs by their items": 9}
        return
    with pytest.raises(RefusedError, match=f"{run}: it is marked as collapsed, and its predictions differ"):
        check_set(proof, number)


def test_counts_that_no_predictions_give_are_refused(data: bytes) -> None:
    members = unpack(data)
    known = toy.read(members, "runs.json.gz")["sets"][0]
    counts = np.load(io.BytesIO(gzip.decompress(members[known["counts"]])))
    counts = counts.copy()
    counts[0, 0, known["names"].index("correct")] = 99
    changed = io.BytesIO()
    np.save(changed, counts)
    members[known["counts"]] = gzip.compress(changed.getvalue(), mtime=0)
    proof = Proof(pack({**members, SUMS: sums(members)}))
    with pytest.raises(RefusedError, match=r"counts/0000\.npy\.gz: correct is larger than gold or predicted"):
        check_set(proof, 0)


def set_to(*keys: Any, value: Any = None, by: Callable[[Any], Any] | None = None) -> Edit:
    """Return an edit of one value."""

    def edit(content: Any) -> None:
        *outer, last = keys
        for key in outer:
            content = content[key]
        old = content[last]
        content[last] = by(old) if by else value
        assert content[last] != old

    return edit


def more(value: float) -> float:
    return value + 0.001


CELL = ("cells", "ours", "words")
EDITS: dict[str, tuple[str, Edit, str]] = {
    "value": (SHOWN, set_to(*CELL, "value", by=more), "ours, words, value"),
    "spread": (SHOWN, set_to(*CELL, "spread", by=more), "spread"),
    "runs": (SHOWN, set_to(*CELL, "n", value=2), "ours, words, n"),
    "expected": (SHOWN, set_to(*CELL, "expected", value=4), "expected"),
    "seed": (SHOWN, set_to(*CELL, "seeds", 1, "value", by=more), "seeds 2, value"),
    "record": (SHOWN, set_to(*CELL, "seeds", 1, "record", value="x"), "record"),
    "published": (SHOWN, set_to(*CELL, "published", "value", by=more), "published"),
    "printed": (SHOWN, set_to(*CELL, "published", "printed", value="73"), "printed"),
    "note": (SHOWN, set_to("cells", "bert", "mean", "published", "note", value=""), "note"),
    "recomputed": (
        SHOWN, set_to("cells", "bert", "mean", "published", "recomputed", value=73.0), "recomputed",
    ),
    "difference": (SHOWN, set_to(*CELL, "difference", by=more), "difference"),
    "verdict": (SHOWN, set_to(*CELL, "verdict", "verdict", value="no verdict"), "verdict"),
    "p": (SHOWN, set_to(*CELL, "verdict", "p", by=lambda p: p * 1.001), "verdict, p"),
    "margin": (SHOWN, set_to(*CELL, "verdict", "margin", value=4), "margin"),
    "detectable": (SHOWN, set_to(*CELL, "verdict", "detectable", by=more), "detectable"),
    "missing": (SHOWN, set_to(*CELL, "missing", value="lost"), "ours, words, missing"),
    "no verdict": (SHOWN, set_to(*CELL, "verdict"), "verdict"),
    "best": (SHOWN, set_to("cells", "best", "words", "value", by=more), "best, words"),
    "composite": (SHOWN, set_to("cells", "ours", "mean", "value", by=more), "ours, mean"),
    "rule": (SHOWN, set_to("equivalence", "alpha", value=0.1), "equivalence, alpha"),
    "label": (SHOWN, set_to("columns", 1, "label", value="Ours"), "columns"),
    "seeds needed": (SHOWN, set_to("seeds_needed", "words", "seeds", by=lambda n: n + 1), "seeds_needed"),
    "fewer needed": (SHOWN, lambda table: table["seeds_needed"].pop("words"), "seeds_needed"),
    "more needed": (SHOWN, set_to("seeds_needed", by=lambda old: {**old, "x": 1}), "seeds_needed"),
    "fewer cells": (SHOWN, lambda table: table["cells"]["ours"].pop("mean"), "cells"),
    "bootstrap": (COMPARED, set_to("rows", 0, "pairs", 0, "bootstrap_p", by=more), "bootstrap_p"),
    "Holm": (
        COMPARED, set_to("rows", 2, "pairs", 1, "randomisation_adjusted", by=more), "randomisation_adjusted",
    ),
    "interval": (COMPARED, set_to("rows", 4, "pairs", 1, "interval", 0, by=more), "interval"),
    "winner": (COMPARED, set_to("rows", 5, "best", value="poor"), "best"),
    "units": (COMPARED, set_to("rows", 3, "units", value=13), "units"),
    "no comparison": (COMPARED, lambda found: found["rows"].pop(), "comparisons"),
    "rank": (BASIS, set_to("ranks", "runs", 0, "models", 0, "high", value=3), "ranks by runs"),
    "order": (BASIS, lambda found: found["ranks"]["runs"][0]["models"].reverse(), "ranks by runs"),
    "tie group": (BASIS, set_to("ranks", "runs", 1, "models", 2, "group", by=lambda n: n + 1), "group"),
    "improvement": (
        BASIS, set_to("ranks", "published", 0, "adjacent", 0, "improvement", value=0.5), "improvement",
    ),
    "metric": ("runs.json.gz", set_to("runs", RUN, "metrics", "entity_f1", by=more), RUN),
    "hidden failure": (
        "runs.json.gz", set_to("runs", RUN, "failed", value="nan"), "either counts or the reason",
    ),
    "other counts": ("runs.json.gz", set_to("runs", RUN, "place", value=0), "not those of the records"),
    "unknown metric": (
        "runs.json.gz", set_to("runs", RUN, "metrics", by=lambda old: {**old, "luck": 1.0}), "luck",
    ),
    "prediction": (f"items/{RUN[:-5]}.json.gz", lambda lines: lines.reverse(), "not those of its items"),
    "gold": ("items/0000.gold.json.gz", lambda lines: lines.reverse(), "not those of its items"),
    "gold of a relation": (
        "items/0003.gold.json.gz", set_to(3, "label", by=lambda label: f"not {label}"), "not in the proof",
    ),
    "document": ("items/0005.gold.json.gz", set_to(3, "document", value="d9"), "not those of its items"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_one_changed_number_is_refused(data: bytes, tmp_path: Path, name: str) -> None:
    member, edit, where = EDITS[name]
    with pytest.raises(RefusedError, match=re.escape(where)):
        check(toy.edited(data, member, edit), tmp_path)


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="there is no ssh-keygen")
def test_a_signature_is_checked_as_the_page_describes(data: bytes, tmp_path: Path) -> None:
    proof = tmp_path / "toy.proof.zip"
    proof.write_bytes(data)

    def keygen(*words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["ssh-keygen", *words], cwd=tmp_path, input=given, capture_output=True, check=False
        )

    assert keygen("-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key").returncode == 0
    assert keygen("-Y", "sign", "-f", "key", "-n", "pubmill-proof", proof.name).returncode == 0
    (tmp_path / "allowed").write_text(f"ada@example.org {(tmp_path / 'key.pub').read_text()}")
    verify = ("-Y", "verify", "-f", "allowed", "-I", "ada@example.org", "-n", "pubmill-proof", "-s")
    assert keygen(*verify, f"{proof.name}.sig", given=data).returncode == 0
    assert keygen(*verify, f"{proof.name}.sig", given=data[:-1]).returncode != 0
