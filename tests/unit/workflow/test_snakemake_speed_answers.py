"""Each answer that pubmill gives in Snakemake's place, by itself; test_snakemake_speed.py compares runs."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake import io
from snakemake.common import FUNC_OVERWRITE_PARAMS_ATTR

from pubmill.workflow import snakemake_speed


class File(str):
    """A file of a job as Snakemake has it: a name with flags, which is there or not."""

    flags: dict[str, bool]
    there: bool

    def __new__(cls, name: str, *flags: str, there: bool = True) -> "File":
        made = super().__new__(cls, name)
        made.flags, made.there = dict.fromkeys(flags, True), there
        return made

    @property
    def is_storage(self) -> bool:
        return "storage_object" in self.flags

    async def exists(self) -> bool:
        return self.there

    async def mtime(self) -> Any:
        return SimpleNamespace(local_or_storage=lambda: float(len(self)))


@pytest.fixture
def collection() -> Iterator[None]:
    """The search for unreachable objects as it was before."""
    enabled = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.usefixtures("collection")
def test_objects_are_not_searched_meanwhile_and_then_as_before(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with pytest.raises(KeyError), snakemake_speed.without_collection():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled() is enabled and gc.get_freeze_count() > 0
    with snakemake_speed.without_collection():
        assert gc.get_freeze_count() == 0


def test_parameters_are_those_of_the_function_unless_it_names_others() -> None:
    def own(wildcards: Any, output: Any) -> None: ...

    def wrapped(*_: Any) -> None: ...

    setattr(wrapped, FUNC_OVERWRITE_PARAMS_ATTR, {"wildcards": 1})
    assert list(snakemake_speed.parameters(own)) == ["wildcards", "output"]
    assert snakemake_speed.parameters(wrapped) == {"wildcards": 1}


@pytest.mark.parametrize(("named", "reads"), [("env.yaml", ()), (lambda wildcards: "env.yaml", ("p", "i"))])
def test_the_environment_of_a_job_is_asked_once(named: Any, reads: tuple[str, ...]) -> None:
    """Only one that is a function reads the job's parameters."""
    asked: list[tuple[Any, ...]] = []

    def expand(*about: Any) -> str:
        asked.append(about)
        return "found"

    rule = SimpleNamespace(_conda_env=named, expand_conda_env=expand)
    job = SimpleNamespace(_conda_env_spec=None, rule=rule, wildcards_dict={"n": "1"}, params="p", input="i")
    assert [snakemake_speed.environment(job), snakemake_speed.environment(job)] == ["found", "found"]
    assert asked == [({"n": "1"}, *reads)]


@pytest.mark.parametrize(
    ("output", "benchmark", "oldest"),
    [
        ((), None, None),
        ((File("gone", there=False),), None, None),
        ((File("four"), File("three")), None, 4.0),
        ((File("four"), File("a", there=False)), File("one"), 3.0),
    ],
)
def test_the_oldest_output_is_one_that_is_there(
    output: tuple[File, ...], benchmark: File | None, oldest: float | None
) -> None:
    job = SimpleNamespace(output=output, benchmark=benchmark)
    assert asyncio.run(snakemake_speed.oldest_output(job)) == oldest


def test_times_are_collected_of_files_that_are_there_and_new() -> None:
    async def collect(file: File) -> str:
        return f"time of {file}"

    files = (File("in"), File("known"), File("gone", there=False), File("bucket", "storage_object"))
    jobs = [
        SimpleNamespace(input=files[:2], output=files[2:], benchmark=None),
        SimpleNamespace(input=(), output=(File("out"),), benchmark=File("benchmark")),
    ]
    cache = SimpleNamespace(mtime={"known": "before"}, collect_mtime=collect)
    asyncio.run(snakemake_speed.take_inventory(cache, jobs))
    assert cache.mtime == {"known": "before"} | {
        name: f"time of {name}" for name in ("in", "out", "benchmark")
    }


@pytest.mark.parametrize(
    ("prefix", "replacements", "inner", "provider", "same"),
    [
        (None, None, None, None, True),
        ("below", None, None, None, False),
        (None, {"a": "b"}, None, None, False),
        (None, None, "another", None, False),
        (None, None, None, "s3", False),
    ],
)
def test_a_path_is_kept_if_nothing_stands_before_it(
    monkeypatch: pytest.MonkeyPatch,
    prefix: Any,
    replacements: Any,
    inner: Any,
    provider: str | None,
    same: bool,
) -> None:
    monkeypatch.setattr(snakemake_speed, "modify_by_prefix", lambda _, path, *more: ("modified", path, *more))
    settings = SimpleNamespace(default_storage_provider=provider)
    modifier = SimpleNamespace(
        prefix=prefix,
        _prefix_replacements=replacements,
        inner_modifier=inner,
        workflow=SimpleNamespace(storage_settings=settings),
    )
    assert snakemake_speed.modify(modifier, "a", 1) == ("a" if same else ("modified", "a", 1))


@pytest.mark.parametrize(
    ("flags", "active", "known", "found"),
    [
        ((), True, True, True),
        ((), True, False, False),
        ((), True, None, "local"),
        ((), False, False, "local"),
        (("storage_object",), True, False, "storage"),
    ],
)
def test_whether_a_file_is_there_is_looked_up_where_it_is_known(
    flags: tuple[str, ...], active: bool, known: bool | None, found: object
) -> None:
    """A cache that says no is believed too; files of a storage are asked for there."""
    asked: list[str] = []

    async def local() -> bool:
        asked.append("local")
        return True

    async def in_storage() -> bool:
        asked.append("storage")
        return True

    class Asked(File):
        _file = File("a", *flags)
        rule: Any = None
        exists_local = staticmethod(local)
        exists_in_storage = staticmethod(in_storage)

    file = Asked("a")
    cache = SimpleNamespace(active=active, exists_local={} if known is None else {file: known})
    file.rule = SimpleNamespace(workflow=SimpleNamespace(iocache=cache))
    answer = asyncio.run(snakemake_speed.is_there(file))
    assert (answer, asked) == ((found, []) if isinstance(found, bool) else (True, [found]))


def test_pipes_services_and_files_that_are_not_there_are_missing() -> None:
    async def missing(job: Any, requested: Iterable[Any]) -> list[str]:
        return [str(one) async for one in snakemake_speed.missing_outputs(job, requested)]

    files = [File("there"), File("gone", there=False), File("p", "pipe"), File("s", "service")]
    job = SimpleNamespace(output_by_path={str(one): one for one in files})
    assert asyncio.run(missing(job, ["there", "gone", "p", "s"])) == ["gone", "p", "s"]
    assert asyncio.run(missing(job, [File("other"), File("neither", there=False)])) == ["neither"]


def test_flags_are_read_from_texts_and_files() -> None:
    flagged = io.flag("a", "temp")
    assert snakemake_speed.is_flagged(flagged, "temp") and not snakemake_speed.is_flagged(flagged, "pipe")
    assert not snakemake_speed.is_flagged("a", "temp") and not snakemake_speed.is_flagged(None, "temp")
    for value, expected in ((flagged, True), ("a", False)):
        file = io._IOFile(value, rule=None)
        assert snakemake_speed.is_flagged(file, "temp") is expected


def test_an_input_is_found_by_its_name_also_after_more_are_added() -> None:
    files = snakemake_speed.Inputs(["a", "b"])
    assert snakemake_speed.is_input(files, File("a")) and not snakemake_speed.is_input(files, "c")
    files.append("c")
    assert snakemake_speed.is_input(files, "c") and snakemake_speed.is_input(files, "b")


def test_producers_are_matched_once_for_each_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []

    async def match(dag: Any, file: str, wildcards_dict: Any) -> list[str]:
        asked.append((file, wildcards_dict))
        return [f"job of {file}"]

    monkeypatch.setattr(snakemake_speed, "match_again", match)
    dag = SimpleNamespace(job_cache={("rule", "a"): "of Snakemake's own"})
    found = [asyncio.run(snakemake_speed.producers(dag, file, {"n": "1"})) for file in ("a", File("a"), "b")]
    assert found == [["job of a"], ["job of a"], ["job of b"]]
    assert asked == [("a", {"n": "1"}), ("b", {"n": "1"})]


@pytest.mark.parametrize(
    ("outputs", "compared"),
    [
        ((("a/b.txt", "a/c.txt"), ("d.txt",)), False),
        ((("a", "a/b/c.txt"), ("d/e",)), False),
        ((("a",), ("a/b/c.txt",)), True),
        ((("a/b",), ("x", "a/b/c.txt")), True),
        ((("a",), ("ab/c.txt", "a.txt")), False),
    ],
)
def test_outputs_are_compared_if_one_is_in_the_folder_of_another_job(
    monkeypatch: pytest.MonkeyPatch, outputs: tuple[tuple[str, ...], ...], compared: bool
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(snakemake_speed, "compare_all_outputs", seen.append)
    dag = SimpleNamespace(jobs=[SimpleNamespace(output=files) for files in outputs])
    snakemake_speed.check_outputs_in_outputs(dag)
    assert seen == [dag] * compared


def test_folders_above_a_file_begin_with_its_own() -> None:
    assert list(snakemake_speed.parents("a/b/c.txt")) == ["a/b", "a"]
    assert list(snakemake_speed.parents("c.txt")) == []


def test_a_second_look_is_asked_for_only_after_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    class Timer:
        def __init__(self, delay: float, look: Callable[[], None]) -> None:
            self.delay, self.look, self.daemon, self.begun = delay, look, False, False
            timers.append(self)

        def start(self) -> None:
            self.begun = self.daemon

    timers: list[Timer] = []
    looks: list[int] = []
    monkeypatch.setattr(threading, "Timer", Timer)
    scheduler = SimpleNamespace(_open_jobs=SimpleNamespace(release=lambda: looks.append(1)))
    for _ in range(2):
        snakemake_speed.look_again(scheduler, 0.5)
    assert [(one.delay, one.begun) for one in timers] == [(0.5, True)] and not looks
    timers[0].look()
    assert looks == [1]
    snakemake_speed.look_again(scheduler, 2)
    assert [one.delay for one in timers] == [0.5, 2]
