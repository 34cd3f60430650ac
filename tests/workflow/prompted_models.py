"""Models that answer prompts, and a prompt that others published, for the tests of the Snakefile."""

import hashlib
from pathlib import Path

from tests.workflow.conftest import Project

PROMPTED = """name: prompted
label: Prompted
lowercase: false
tables: [gu2020/table06]
weights:
  kind: prompted
  server: SERVER
  model: tiny
  datasets: [bc5-chem]
  prompt: theirs
  shots: 1
  seeds: [1, 2]
  structured: true
  price: {prompt: 1, answer: 2.5, currency: EUR}
  budget: {requests: 1000, tokens: 1000000}
  engine: {name: stub, version: "1", quantisation: none}
  system: {name: developer/tiny, version: "1", prompt: that of pubmill, local: true}
"""
PUBLISHED = "Chemicals, please.\n\nSentence: <<>>\nOutput:"
THEIRS = f"""name: theirs
label: Their prompts
citation: nobody's
templates:
  bc5-chem:
    url: https://example.org/%5BNER%5D/prompt.txt
    sha256: {hashlib.sha256(PUBLISHED.encode()).hexdigest()}
    place: <<>>
    input: "{{words}}"
"""
REAL = """name: served
label: Served
lowercase: false
tables: [gu2020/table06]
weights:
  kind: prompted
  server: SERVER
  model: MODEL
  datasets: [bc5-chem]
  length: 8
  system: {name: random/llama, version: "1", prompt: that of pubmill, local: true}
"""


def publish_prompt(project: Project, world: Path) -> None:
    """Add the spec of a prompt that others published, and a mirror that has it beside the miniature data."""
    mirror = project.folder.with_name("mirror")
    (mirror / "example.org/[NER]").mkdir(parents=True)
    (mirror / "example.org/[NER]/prompt.txt").write_text(PUBLISHED)
    for host in world.iterdir():
        (mirror / host.name).symlink_to(host)
    (project.folder / "specs/prompts/theirs.yaml").write_text(THEIRS)
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {mirror}")
