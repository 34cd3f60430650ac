"""Dev splits from the training data of corpora without a dev split.

Documents are ordered by the SHA-256 of `SEED:DOCUMENT` and the first ones become dev, so the split depends
only on their names: neither on the order of files in a folder nor on a random number generator. The splits of
ClinicalBERT and bio-lm depend on these and cannot be reproduced.
"""

import hashlib
import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.errors import PubmillError


def split_members(source: ConverterInput, groups: Collection[str], option: str = "dev") -> set[str]:
    """Return the groups (documents, patients) of the training data that are in the split, `train` or `dev`.

    The option is `{share: 0.1, seed: 1}`; dev is that share of the groups, rounded up. Raises a
    `PubmillError` for any other form, and if no groups would be left for train.
    """
    share, seed = _share_and_seed(source.options.get(option), option)
    number = math.ceil(share * len(set(groups)))
    if number >= len(set(groups)):
        raise PubmillError(
            f"of {len(set(groups))} documents or patients {number} would be dev, so none are left for train; "
            "is the archive complete?"
        )
    ordered = sorted(set(groups), key=lambda group: hashlib.sha256(f"{seed}:{group}".encode()).digest())
    return set(ordered[:number] if source.split == "dev" else ordered[number:])


def _share_and_seed(value: Any, option: str) -> tuple[Fraction, int]:
    if isinstance(value, Mapping) and value.keys() == {"share", "seed"}:
        share, seed = value["share"], value["seed"]
        if (
            isinstance(share, float)
            and 0 < share < 1
            and isinstance(seed, int)
            and not isinstance(seed, bool)
        ):
            return Fraction(str(share)), seed
    raise SpecError(
        f"the converter's option `{option}` is {value!r}; give the share of the training data that is "
        "held out and a seed, such as {share: 0.1, seed: 1}"
    )
