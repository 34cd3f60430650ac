"""A table of a sixth paper costs three files and no code: table, published values, and protocol."""

import shutil
from pathlib import Path

from pubmill.recipes.report import Reference
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.specs import load
from pubmill.specs.fidelity import rows
from pubmill.specs.spec_types import Statement
from pubmill.specs.study import Study
from pubmill.stages import checked_graph
from pubmill.tables.aggregation import finished_table
from tests.fidelity_faults import faults
from tests.fidelity_page import page_names

NAME = "smith2026/table01"
FILES = {
    "tables/smith2026/table01.yaml": """\
name: table01
kind: results
paper: smith2026
title: "Smith et al. 2026, Table 1: entities"
caption: Test scores.
citation: Smith et al. (2026), A sixth paper, section 3, Table 1
protocol: smith2026
setting: standard
columns:
  - {model: bert-base-uncased, label: BERT}
  - {model: pubmedbert-base, label: PubMedBERT}
rows:
  - {dataset: bc2gm, label: BC2GM, group: entities}
""",
    "tables/smith2026/table01.published.csv": """\
column,row,metric,value,note
bert-base-uncased,bc2gm,entity_f1,81.25,
pubmedbert-base,bc2gm,entity_f1,84.5,
""",
    "protocols/smith2026.yaml": """\
name: smith2026
include: blurb
paper: smith2026
reference: {text: Smith et al. (2026). A sixth paper. A journal 1(1)., doi: 10.1000/182}
hyperparameters: {warmup: 0.05}
method:
  hyperparameters.warmup: {section: "3", says: a warm-up over 5 % of the steps}
""",
}


def test_its_files_make_a_graph_a_table_a_citation_and_a_page_of_fidelity(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "specs"
    shutil.copytree(root / "specs", folder)
    for path, text in FILES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    study = {"study": "sixth", "title": "A sixth paper", "scale": "full", "tables": (NAME,)}
    graph = checked_graph(Study.model_validate(study | {"results": str(tmp_path)}), load(folder, "full"))
    records = graph.tables.record_files(NAME)
    assert len(records) == 2 and all("runs/smith2026/" in record for record in records)
    table = finished_table(graph.tables.recipe(NAME), folder / f"tables/{NAME}.published.csv", tmp_path)
    assert table.cells["pubmedbert-base"]["bc2gm"].published and "84.5" in TABLE_RENDERERS["md"](table)

    recipe = graph.report.recipe(graph.report.statement_files(folder))
    cited = Reference(text="Smith et al. (2026). A sixth paper. A journal 1(1).", doi="10.1000/182")
    assert recipe.references == {"smith2026": cited}
    assert any(path.endswith("protocols/smith2026.yaml") for path in recipe.statements)

    assert faults(folder) == []
    [row] = [one for one in rows(folder) if one.paper == "smith2026"]
    assert row.statement == Statement(section="3", says="a warm-up over 5 % of the steps")
    assert "fidelity/smith2026.md" in page_names(folder)
