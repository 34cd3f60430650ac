"""XML of sources, from wherever it comes: nothing in it is expanded, fetched or run.

No corpus that is read here declares a document type or entities, so a file that does is refused.
"""

from collections.abc import Callable

from lxml import etree

from pubmill.errors import PubmillError


def parsed(content: str, where: str, mended: Callable[[str], str] | None = None) -> etree._Element:
    """The root, without comments and processing instructions.

    What isn't well-formed is read once more after `mended`, if there is such a function: for faults that a
    release is known for. A `PubmillError` for what still isn't, and for any declaration, tells only the
    place, as the parser's own words may hold text.
    """
    if "<!DOCTYPE" in content or "<!ENTITY" in content:
        raise PubmillError(
            f"{where}: declares a document type or entities, which no file of the corpus does; refused"
        )
    content = content.removeprefix("\ufeff")
    try:
        return _root(content)
    except etree.XMLSyntaxError as error:
        fault = error
    try:
        if mended:
            return _root(mended(content))
    except etree.XMLSyntaxError as error:
        fault = error
    raise PubmillError(f"{where}:{fault.lineno}: not well-formed XML; bring the archive anew from its source")


def _root(content: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, remove_comments=True, remove_pis=True, collect_ids=False,
    )  # fmt: skip
    root: etree._Element = etree.fromstring(content.encode(), parser)
    return root
