"""A new stage: its class, its rule and its program, beside what it does and the tests of these."""

from pathlib import Path

import pytest

from tests.workflow.conftest import Project

STAGE = '''"""Numbers of documents."""

from typing import Any

from pubmill.stages.stage import Stage


class CountDocuments(Stage):
    """The number of documents of a corpus."""

    name, group, label = "count_documents", "select", "Counting {wildcards.corpus} {wildcards.corpus}"
    version = 7

    def recipe_of(self, wildcards: Any) -> Any:
        return {"corpus": wildcards.corpus}
'''
RULE = """

rule count_documents:
    input:
        manifest=graph.paths.corpus("{corpus}", "manifest.parquet"),
    output:
        graph.paths.corpus("{corpus}", "documents.txt"),
    log:
        graph.paths.log(graph.paths.corpus("{corpus}", "documents")),
    resources:
        **graph.count_documents.resources,
    params:
        **graph.count_documents.params,
    message:
        graph.count_documents.label
    shell:
        "python -m pubmill.job count_documents --manifest {input.manifest:q} --output {output:q}"
        " --recipe {params.recipe:q} > {log:q} 2>&1"
"""
PROGRAM = """from pathlib import Path

import pyarrow.parquet


def main(recipe: str, manifest: Path, output: Path) -> None:
    output.write_text(f"{recipe} {pyarrow.parquet.read_metadata(manifest).num_rows}")
"""
MADE = "results/demo/corpora/pubmed-abstracts/documents.txt"


@pytest.mark.long
def test_a_stage_is_a_class_a_rule_and_a_program(project: Project) -> None:
    """Display, plan and resources know it by its class; nothing else names it."""
    folder = project.folder
    (folder / "pubmill/stages/document_counts.py").write_text(STAGE)
    (folder / "pubmill/jobs/count_documents.py").write_text(PROGRAM)
    with (folder / "rules/corpus.smk").open("a") as rules:
        rules.write(RULE)
    run = project.run("--show-failed-logs", MADE)
    assert "Counting pubmed-abstracts pubmed-abstracts" in run.stdout + run.stderr
    recipe, count = Path(folder / MADE).read_text(encoding="utf-8").split("} ")
    assert recipe == '{"corpus": "pubmed-abstracts"' and int(count) > 0
    assert project.planned(MADE) == {}
    project.edit("pubmill/stages/document_counts.py", "version = 7", "version = 8")
    assert project.planned(MADE) == {"count_documents": 1}
