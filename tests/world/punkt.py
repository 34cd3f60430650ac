"""NLTK's Punkt parameters for English in tabular form, with a small invented content."""

from tests.world.archives import zipped

PATH = "raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"
_FILES = {
    "abbrev_types.txt": "al\ncf\ndr\ne.g\net al\nfig\ni.e\nno\nvs",
    "collocations.tab": "##number##\tmg\n##number##\tpatients",
    "ortho_context.tab": "and\t32\ncells\t32\nin\t34\npatients\t34\nthe\t34\nwas\t32",
    "sent_starters.txt": "here\nin\nour\nthe\nthese\nwe",
}


def punkt_zip() -> bytes:
    """Return the archive."""
    return zipped({f"punkt_tab/english/{name}": text.encode() for name, text in _FILES.items()})
