"""Only what Snakemake documents is used: no private name, no module of its inside."""

import re
from pathlib import Path

OURS = ("pubmill", "rules", "scripts", "tests", "profiles", "benchmarks", "snakemake_logger_plugin_pubmill")
PRIVATE = re.compile(r"\b(workflow|dag|job|scheduler|persistence|rule|snakemake)\._[a-z]")
IMPORTED = re.compile(r"^\s*(?:from|import) (snakemake[\w.]*)", re.MULTILINE)
PUBLIC = re.compile(r"snakemake\.(api|utils|exceptions)|snakemake_interface_\w+(\.\w+)*")


def test_nothing_private_of_snakemake_is_used(root: Path) -> None:
    files = [root / "Snakefile", *(path for name in OURS for path in (root / name).rglob("*"))]
    texts = {
        path: path.read_text() for path in files if path.suffix in (".py", ".smk") or path.stem == "Snakefile"
    }
    assert len(texts) > 500
    assert not {str(path): found[0] for path, text in texts.items() if (found := PRIVATE.search(text))}
    names = {name for text in texts.values() for name in IMPORTED.findall(text)}
    assert not {name for name in names if not PUBLIC.fullmatch(name) and "plugin_pubmill" not in name}
