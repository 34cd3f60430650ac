"""Sources of full articles: PMC's cloud bucket, and the older packages."""

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pubmill.specs.spec_types import FilePath, Https, Name, Strict

ArticleName = Annotated[str, Field(pattern=r"^PMC[1-9]\d*\.[1-9]\d*$")]
Reason = Annotated[str, Field(min_length=1)]
LeftOut = Literal["captions", "footnotes", "formulas", "sub-articles", "supplements", "tables"]


class Articles(Strict):
    """How articles are read: the parser, and the elements of the body that are not text (`leave_out`).

    `formulas` are display formulas only. References, labels, TeX and everything after the body are never text
    (`pubmill/corpus/jats.py`). `unreadable`: shard -> article -> fault; these articles cannot be read and are
    skipped. An article is `PMC123.1` (number and version; the version is 1 in packages).

    - `name`: the source's name in `selections` and in counts.
    - `parser`: how an article is read.
    - `leave_out`: elements of the body that are not text.
    """

    name: Name
    parser: Literal["pubmill", "pubmed_parser"] = "pubmill"
    leave_out: tuple[LeftOut, ...]
    unreadable: dict[str, dict[ArticleName, Reason]] = {}

    @model_validator(mode="after")
    def pubmed_parser_has_no_choice(self) -> Self:
        if self.parser == "pubmed_parser" and self.leave_out:
            raise ValueError("pubmed_parser cannot leave out elements; write `leave_out: []`")
        return self


class PmcSource(Articles):
    """The bucket as listed in the inventory of one day; the latest version of each article is used.

    `articles`: ranges of shards by PMCID: `PMC00000xxxx-PMC01299xxxx` are 1,300 shards of 10,000 numbers
    each.

    - `kind`: `pmc`.
    - `url`: the bucket.
    - `inventory`: the day of the inventory that lists the articles.
    """

    kind: Literal["pmc"]
    url: Https
    inventory: date
    articles: tuple[str, ...]


class PmcPackagesSource(Articles):
    """Packages `NAME.tar.gz`, each with `NAME.filelist.csv`, by name below `url`; the later date wins.

    - `kind`: `pmc-packages`.
    - `packages`: the packages, without `.tar.gz`.
    - `url`: the folder of the packages.
    """

    kind: Literal["pmc-packages"]
    url: Https
    packages: tuple[FilePath, ...]
