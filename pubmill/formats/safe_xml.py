"""Parser for untrusted XML: nothing is expanded, fetched or run."""

from collections.abc import Callable

from lxml import etree

from pubmill.errors import PubmillError


def parse_xml(
    content: str, where: str, repair: Callable[[str], str] | None = None, doctype: bool = False
) -> etree._Element:
    """Return the root, without comments and processing instructions.

    Entities are refused, and a document type too unless `doctype`, which BioC files declare; it is never
    read. If the content is not well-formed, the function `repair`, if not None, corrects known faults of a
    release, and the content is parsed again. A `PubmillError` for XML that is still malformed, and for any
    declaration, names only the position, because the parser's own message may contain text.
    """
    refused = "<!ENTITY" if doctype else "<!DOCTYPE"
    if refused in content or "<!ENTITY" in content:
        what = "entities, which the format" if doctype else "a document type or entities, which the file"
        raise PubmillError(f"{where}: declares {what} does not need; refused")
    content = content.removeprefix("\ufeff")
    try:
        return _root(content)
    except etree.XMLSyntaxError as error:
        fault = error
    try:
        if repair:
            return _root(repair(content))
    except etree.XMLSyntaxError as error:
        fault = error
    raise PubmillError(f"{where}:{fault.lineno}: not well-formed XML; download it again")


def attribute(element: etree._Element, name: str, where: str) -> str:
    """Return an attribute, which may be empty; a `PubmillError` if the element lacks it."""
    value = element.get(name)
    if value is None:
        raise PubmillError(f"{where}:{element.sourceline}: <{element.tag}> has no {name}")
    return str(value)


def _root(content: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    root: etree._Element = etree.fromstring(content.encode(), parser)
    return root
