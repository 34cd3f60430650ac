"""Text of MathML: what of its white space is text, and what it states in attributes."""

from lxml import etree

MATHML = "{http://www.w3.org/1998/Math/MathML}"
# Elements in which white space is text, as in NCBI's jats-html.xsl (`xsl:preserve-space`).
MATHML_TEXT = frozenset(
    MATHML + name for name in ("annotation", "ci", "cn", "csymbol", "mi", "mn", "mo", "ms", "mtext")
)
_XML_SPACE = " \t\r\n"  # a no-break space is a character like any other


def tidy_formula(math: etree._Element) -> None:
    """Remove the white space between elements of MathML, which is the publisher's layout and never shown."""
    for element in math.iter():
        if element.tag not in MATHML_TEXT:
            remove_layout(element)


def remove_layout(element: etree._Element) -> None:
    """Remove white space between the children of an element that may contain only elements."""
    if not (element.text or "").strip(_XML_SPACE):
        element.text = None
    for child in element:
        if not (child.tail or "").strip(_XML_SPACE):
            child.tail = None


def write_fences(element: etree._Element) -> None:
    """Write the brackets and separators of `mfenced` as text (MathML 3.0, section 3.3.8).

    White space in `separators` is none; if there are too few, the last is repeated.
    """
    separators = "".join(element.get("separators", ",").split())
    for number, child in enumerate(list(element)[:-1]):
        child.tail = f"{child.tail or ''}{separators[number : number + 1] or separators[-1:]}"
    _enclose(element, element.get("open", "(").strip(), element.get("close", ")").strip())


def write_quotes(element: etree._Element) -> None:
    """Write the quotation marks of `ms` as text (MathML 3.0, section 3.2.8)."""
    _enclose(element, element.get("lquote", '"'), element.get("rquote", '"'))


def _enclose(element: etree._Element, opening: str, closing: str) -> None:
    element.text = f"{opening}{element.text or ''}"
    if len(element):
        element[-1].tail = f"{element[-1].tail or ''}{closing}"
    else:
        element.text += closing
