"""Croissant metadata of a dataset: JSON-LD that dataset search engines and loaders read.

Croissant 1.1 and its vocabulary for responsible AI (mlcommons.org/croissant). The files of public datasets
are described field by field; of others only what is known without access. As on a dataset's page, there are
numbers and names, but no text of the dataset.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import is_dataclass
from posixpath import dirname, relpath
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from pubmill.examples.kinds import KINDS as EXAMPLES
from pubmill.examples.kinds import optional_fields
from pubmill.report.dataset_pages import PAGE_RENDERERS, Page
from pubmill.storage.result_paths import BELOW

Node = dict[str, Any]
SPECIFICATIONS = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
NAMESPACES = {
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
}
TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject",
    "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
    "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate",
    "separator", "source", "subField", "transform",
)  # fmt: skip
"""Terms of the format that stand without a prefix in its files."""
CONTEXT: Node = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **NAMESPACES,
    **{term: f"cr:{term}" for term in TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
}
TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float"}
OPTIONAL = {"relation": {"entities"}, "yes-no": {"text_pair"}, "inference": {"text_pair"}}
"""Task -> optional fields that its datasets have; other optional fields are omitted from the metadata."""
SENSITIVE = "clinical notes, de-identified by those who released them; identifiers may remain"


class ExampleFile(NamedTuple):
    """A file with the examples of a split, its address relative to the metadata, and its format."""

    split: str
    name: str
    url: str
    sha256: str
    form: str


def to_croissant(page: Page, examples: Sequence[ExampleFile] | None = None) -> str:
    """Return the metadata as JSON; `examples`: files in place of those of the results."""
    return json.dumps(metadata(page, examples), indent=1, ensure_ascii=False) + "\n"


def metadata(page: Page, examples: Sequence[ExampleFile] | None = None) -> Node:
    """Return the metadata: what the dataset is, its licence and limits, and its files if they are public."""
    recipe = page.recipe
    converted = list(_converted_files(page)) if examples is None else examples
    sources = (
        _file(one.role, one.url, one.sha256, "application/octet-stream", one.bytes)
        for one in page.sources
        if one.url
    )
    made = (_file(one.name, one.url, one.sha256, one.form) for one in converted)
    files = [*sources, *made] if recipe.access == "public" else []
    shared = (one for one in page.card.overlaps if one.texts)  # shared inputs inflate scores
    repeated = [f"{one.texts} inputs of {one.split} are also in {one.earlier}" for one in shared]
    known: Node = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": SPECIFICATIONS,
        "name": recipe.name,
        "description": _description(page),
        "url": recipe.apply or next((source.url for source in page.sources if source.url), None),
        "license": recipe.licence,
        "conditionsOfAccess": page.access,
        "citeAs": recipe.citation,
        "inLanguage": "en",
        "version": f"{page.card.version}.0.0",
        "keywords": [recipe.domain, recipe.task, *recipe.suites],
        "rai:dataUseCases": [f"{recipe.task}, scored by {recipe.metric}"],
        "rai:dataLimitations": [*recipe.conflicts, *repeated],
        "rai:personalSensitiveInformation": [SENSITIVE] if recipe.domain == "clinical" else [],
        "distribution": files,
        "recordSet": [_records(page, one) for one in converted] if files else [],
    }
    return {name: value for name, value in known.items() if value}


def _description(page: Page) -> str:
    card, size = page.card, page.card.sizes[0]
    sizes = (f"{card.count(split, size)} {size} in {split}" for split in card.splits)
    parts = [page.title, page.kind, ", ".join(sizes), *page.recipe.notes, page.warning]
    return "; ".join(part for part in parts if part)


def _converted_files(page: Page) -> Iterator[ExampleFile]:
    """Yield the converted example file of each split, with its address relative to the page's folder."""
    for split in page.card.splits:
        name = f"{split}.jsonl.gz"
        path = relpath(f"{BELOW.dataset(page.recipe.name)}/{name}", dirname(BELOW.page(page.recipe.name)))
        yield ExampleFile(split, name, path, page.card.examples_sha256[split], "application/jsonlines")


def _file(name: str, url: str, sha256: str, form: str, size: int | None = None) -> Node:
    described = {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": url}
    size_text = {} if size is None else {"contentSize": f"{size} B"}
    return {**described, **size_text, "encodingFormat": form, "sha256": sha256}


def _records(page: Page, file: ExampleFile) -> Node:
    """Return the fields of a split's examples."""
    name, kind = f"{file.split}-examples", EXAMPLES[page.recipe.kind]
    lacking = optional_fields(kind) - OPTIONAL.get(page.recipe.task, set())
    fields = [_field(name, file.name, field, hint) for field, hint in _hints(kind) if field not in lacking]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "key": {"@id": f"{name}/id"}, "field": fields}


def _hints(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a class with their types; of those that may be None, the other type."""
    for name, hint in get_type_hints(kind).items():
        options = [option for option in get_args(hint) if option is not NoneType]
        yield name, options[0] if NoneType in get_args(hint) else hint


def _field(records: str, file: str, name: str, hint: Any) -> Node:
    """Return the description of one field; `hint`: a type, a list of one, or lists of lists."""
    node: Node = {"@type": "cr:Field", "@id": f"{records}/{name}", "name": name}
    item, shape = hint, list[str]()
    while get_origin(item) is list:
        item, shape = get_args(item)[0], [*shape, "-1"]
    node |= {"isArray": True, "arrayShape": ",".join(shape)} if shape else {}
    node["source"] = {"fileObject": {"@id": file}, "extract": {"column": name}}
    if not is_dataclass(item):
        return node | {"dataType": TYPES[item]}
    parts = [(part, hint) for part, hint in _hints(item) if hint in TYPES]  # type: ignore[arg-type]
    return node | {"subField": [_part(node["@id"], file, name, *part) for part in parts]}


def _part(parent: str, file: str, column: str, name: str, hint: Any) -> Node:
    """Return the description of a value within the items of a list."""
    node: Node = {"@type": "cr:Field", "@id": f"{parent}/{name}", "name": name, "dataType": TYPES[hint]}
    extract, transform = {"column": column}, {"jsonPath": f"$[*].{name}"}
    source = {"fileObject": {"@id": file}, "extract": extract, "transform": transform}
    return node | {"source": source}


DATASET_PAGE_RENDERERS = {**PAGE_RENDERERS, "croissant.json": to_croissant}
"""All files of a dataset's page."""
