"""Cost of downloading and reading the PubMed files of a corpus, estimated before any job runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.wording import counted
from pubmill.specs import PubmedSource
from pubmill.stages.source_jobs import pubmed_files
from pubmill.storage.listings import list_folder

# Seconds of one core for a file of 30,000 citations, measured by benchmarks/baseline.py (see its README).
SECONDS = {"parse": 6.0, "merge versions": 0.1, "select": 2.5}
SINGLE = "merge versions"  # one job for all files


@dataclass(frozen=True)
class PubmedPlan:
    """Files of a source: their number, the bytes that are known, the number of files of unknown size.
    `absent`: files that the listings lack; `problems`: why a folder could not be listed."""

    source: str
    files: int
    known_bytes: int
    unknown: int
    absent: tuple[str, ...]
    problems: tuple[str, ...]

    def hours(self, cores: int) -> dict[str, float]:
        """Return the hours of each step on this number of cores, from measured rates."""
        used = {step: 1 if step == SINGLE else cores for step in SECONDS}
        return {step: self.files * seconds / 3600 / used[step] for step, seconds in SECONDS.items()}

    def lines(self, cores: int, megabits: float) -> Iterator[str]:
        """Yield the plan as text; `megabits` is the assumed speed of the connection per second."""
        unknown = f", and {counted(self.unknown, 'file')} of unknown size" if self.unknown else ""
        yield f"{self.source}: {self.files:,} files to download: {self.known_bytes / 1e9:.2f} GB{unknown}"
        yield from (f"  sizes unknown: {problem}" for problem in self.problems)
        if self.absent:
            more = f" and {len(self.absent) - 5} more" if len(self.absent) > 5 else ""
            listing = commands.pubmill("sources", "pubmed")
            yield f"  not on the server: {', '.join(self.absent[:5])}{more}; list its files with `{listing}`"
        if self.known_bytes:
            hours = self.known_bytes * 8 / megabits / 1e6 / 3600
            yield f"  download: {hours:.1f} h for the known bytes, at {megabits:g} Mbit/s"
        for step, hours in self.hours(cores).items():
            yield f"  {step}: {hours:.1f} h on {1 if step == SINGLE else cores} of {cores} cores"


def plan(source: PubmedSource, mirror: str | None = None) -> PubmedPlan:
    """Look up the sizes of a source's files in the listings of its folders."""
    paths = pubmed_files(source)
    known, unknown, absent, problems = 0, 0, [], []
    for folder in source.files:
        wanted = [path for path in paths if path.startswith(f"{folder}/")]
        try:
            listed = list_folder(f"{source.url}/{folder}", mirror)
        except PubmillError as error:
            problems.append(str(error))
            unknown += len(wanted)
            continue
        for path in wanted:
            name = path.rpartition("/")[2]
            if name not in listed:
                absent.append(path)
                continue
            known += listed[name] or 0
            unknown += listed[name] is None
    return PubmedPlan(source.name, len(paths), known, unknown, tuple(absent), tuple(problems))
