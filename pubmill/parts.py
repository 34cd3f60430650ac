"""The parts of a corpus on disk."""

from pathlib import Path


def part_files(folder: Path, count: int) -> list[Path]:
    """The parts of the corpus in `folder`, in order.

    They are counted, not searched for: a corpus that has lost a shard may have an older part lying
    about. And they are not named one by one: a whole baseline's paths would be longer than a shell
    command may be.
    """
    return [folder / f"part-{number:04d}.parquet" for number in range(count)]
