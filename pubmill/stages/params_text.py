"""Arguments in the params of rules."""


def as_arguments(inputs: dict[str, str]) -> list[str]:
    """Return named inputs as a program's arguments."""
    return [word for name, path in inputs.items() for word in (f"--{name}", path)]
