"""Numbers with their nouns."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun: `1 dataset`, `2 datasets`; `plural`: if it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
