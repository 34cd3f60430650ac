"""Sources of full articles: PMC's bucket, and the packages that came before it."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.specs.base import FilePath, Https, Name, Strict

LicenceGroup = Literal["commercial", "noncommercial", "other"]
Flag = Literal["retracted", "manuscript", "ocr"]
ArticleName = Annotated[str, Field(pattern=r"^PMC[1-9]\d*\.[1-9]\d*$")]
Reason = Annotated[str, Field(min_length=1)]
LeftOut = Literal["captions", "footnotes", "formulas", "sub-articles", "supplements", "tables"]


class Articles(Strict):
    """How articles are read: by which parser, and what of the body is no text.

    `formulas` are those on lines of their own. References, labels, TeX and all behind the body are never
    text (`pubmill/corpus/jats.py`). `unreadable` names articles that cannot be read and are left out: shard,
    `PMC123.1` (number and version, which is 1 in packages), what is wrong with it.
    """

    name: Name
    parser: Literal["pubmill", "pubmed_parser"] = "pubmill"
    leave_out: tuple[LeftOut, ...]
    unreadable: dict[str, dict[ArticleName, Reason]] = {}

    @model_validator(mode="after")
    def pubmed_parser_has_no_choice(self) -> Self:
        if self.parser == "pubmed_parser" and self.leave_out:
            raise ValueError("pubmed_parser cannot leave anything out; write `leave_out: []`")
        return self


class PmcSource(Articles):
    """The bucket, as its inventory of one day lists it; the latest version of each article.

    `articles` are shards by PMCID, in ranges: `PMC00000xxxx-PMC01299xxxx` are 1,300 of 10,000 numbers each.
    """

    kind: Literal["pmc"]
    url: Https
    inventory: date
    articles: tuple[str, ...]


class PmcPackagesSource(Articles):
    """Packages `NAME.tar.gz` with `NAME.filelist.csv` beside, by name below `url`; the later date wins."""

    kind: Literal["pmc-packages"]
    url: Https
    packages: tuple[FilePath, ...]
