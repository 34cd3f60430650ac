"""Doctor: reports on datasets that are available, incomplete, licensed, converted, or behind dead links."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.inspection import doctor
from pubmill.messages import commands
from pubmill.specs import File
from pubmill.specs.configuration import merged_config
from pubmill.specs.study import check_study
from pubmill.stages import Graph
from pubmill.stages.gpus import Gpus
from pubmill.storage.files import write_json
from tests.licensed import APPLY, FILES, KEY, NAME
from tests.servers import Talk, serving
from tests.unit.programs import run_verb

ALIVE = doctor.Links(True, {})
GPUS = Gpus({"A": 1e12, "H100": 1e13}, {"pretraining": 0.5, "finetuning": 0.25})


def graph(specs: Path, tmp_path: Path, **config: Any) -> Graph:
    base = {"study": "x", "title": "x", "scale": "demo", "tables": [], "results": str(tmp_path / "results")}
    return Graph(*check_study(base | config, specs))


def looked_at(
    specs: Path, tmp_path: Path, links: doctor.Links | None = ALIVE, **config: object
) -> dict[str, doctor.DatasetFinding]:
    study = {"tables": ["gu2020/table06"], "datasets": [NAME, "bc2gm"], **config}
    return {finding.dataset: finding for finding in doctor.examine(graph(specs, tmp_path, **study), links)}


@pytest.fixture
def mirror(specs: Path, tmp_path: Path) -> Path:
    """Files of bc2gm with the mirror's names; the doctor does not read their content."""
    for file in graph(specs, tmp_path).specs.datasets["bc2gm"].sources.values():
        assert isinstance(file, File)
        path = tmp_path / "mirror" / file.url.removeprefix("https://")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "mirror"


def test_files_of_a_mirror_are_at_hand_and_what_it_lacks_is_to_be_fetched(
    specs: Path, tmp_path: Path, mirror: Path
) -> None:
    """Unless it was taken before."""
    found = looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"]
    assert found.wanted and found.available and found.sources == {"mirror": 3} and not found.to_do
    assert found.counts == "not converted yet" and found.sound
    lost = next(mirror.rglob("test.tsv"))
    taken = tmp_path / "results/demo/sources" / lost.relative_to(mirror)
    taken.parent.mkdir(parents=True)
    lost.rename(taken)
    found = looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"]
    assert found.available and found.sources == {"mirror": 2, "results": 1}
    taken.unlink()
    found = looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"]
    assert found.available is False and not found.sound
    assert found.to_do == [f"fetch https://{lost.relative_to(mirror)} to {lost}"]


def test_files_of_ones_own_are_at_hand_or_it_is_said_where_to_apply(
    specs: Path, tmp_path: Path, folder: Path
) -> None:
    found = looked_at(specs, tmp_path)[NAME]
    assert found.available is False and found.sources["absent"] == 3
    (to_do,) = found.to_do
    for said in (APPLY, f"local_files: {{{KEY}:", *FILES.values()):
        assert said in to_do
    found = looked_at(specs, tmp_path, local_files={KEY: str(folder)})[NAME]
    assert found.available and found.sources == {"local_files": 3}
    (folder / FILES["dev"]).unlink()
    found = looked_at(specs, tmp_path, local_files={KEY: str(folder)})[NAME]
    assert found.available is False and f"has no file {FILES['dev']}" in found.to_do[0]


def test_what_the_network_has_is_available_unless_its_link_is_dead(specs: Path, tmp_path: Path) -> None:
    """Links are those of files that are not here. Without asking, nothing is claimed."""
    found = looked_at(specs, tmp_path)["bc2gm"]
    assert found.available and found.sources == {"network": 3}
    found = looked_at(specs, tmp_path, None)["bc2gm"]
    assert found.available is None and found.sound and not found.to_do
    found = looked_at(specs, tmp_path, doctor.Links(False, {}))["bc2gm"]
    assert found.available is False and len(found.to_do) == 1 and not found.dead
    urls = doctor.linked(graph(specs, tmp_path))
    url = next(url for url in urls if "BC2GM" in url)
    found = looked_at(specs, tmp_path, doctor.Links(True, {url: "404 Not Found"}))["bc2gm"]
    assert found.available is False and found.dead == [f"{url}: 404 Not Found"]
    assert found.sources["network"] == 2 and found.sources["absent"] == 1
    assert "mirror" in found.to_do[0]
    taken = tmp_path / "results/demo/sources" / url.removeprefix("https://")
    taken.parent.mkdir(parents=True)
    taken.touch()
    assert set(urls) - set(doctor.linked(graph(specs, tmp_path))) == {url}


def test_counts_of_a_conversion_are_compared_with_the_spec(specs: Path, tmp_path: Path, mirror: Path) -> None:
    expect = graph(specs, tmp_path).specs.datasets["bc2gm"].expect
    card = tmp_path / "results/demo/datasets/bc2gm/card.json"
    write_json(card, {"counts": expect})
    found = looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"]
    assert found.counted and found.counts == "counts as expected"
    write_json(card, {"counts": {**expect, "dev": {**expect["dev"], "mentions": 1}}})
    found = looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"]
    assert found.counted is False and "dev mentions: expected" in found.counts and not found.sound
    card.write_text("{")
    assert "damaged" in looked_at(specs, tmp_path, mirror=str(mirror))["bc2gm"].counts


@pytest.mark.parametrize(("expect", "counted", "said"), [
    ("{train: {mentions: 2}}", True, "counts as expected (of dev, test: nothing expected)"),
    ("{train: {}}", None, "converted; counts: nothing expected"),
])  # fmt: skip
def test_where_nothing_is_expected_no_counts_are_as_expected(
    specs: Path, tmp_path: Path, folder: Path, expect: str, counted: bool | None, said: str
) -> None:
    path = specs / f"datasets/{NAME}.yaml"
    whole = "{train: {mentions: 2}, dev: {mentions: 1}, test: {mentions: 1}}"
    path.write_text(path.read_text().replace(whole, expect))
    write_json(tmp_path / f"results/demo/datasets/{NAME}/card.json", {"counts": {"train": {"mentions": 2}}})
    found = looked_at(specs, tmp_path, local_files={KEY: str(folder)})[NAME]
    assert found.counted is counted and found.counts == said and found.sound


def models_of(specs: Path, tmp_path: Path, links: doctor.Links | None = ALIVE, **config: object) -> str:
    """Return what the doctor prints about the models of a study."""
    with StringIO() as text:
        found = doctor.examine_models(graph(specs, tmp_path, **config), links, GPUS, "pubmill mirror x")
        doctor.print_models(Console(file=text, width=200), found)
        return " ".join(text.getvalue().split())


def test_models_are_made_here_fetched_or_brought(specs: Path, tmp_path: Path) -> None:
    own = "name: own\nlabel: Own\nlowercase: true\nweights: {kind: folder, local: my-bert}\n"
    (specs / "models/own.yaml").write_text(own)
    models = ["pubmedbert-base", "no-pretraining", "biobert-base", "own", "scispacy-bc5cdr"]
    study: dict[str, Any] = {"tables": ["gu2020/table06", "tinn2021/table10"], "models": models}
    said = models_of(specs, tmp_path, **study)
    trained = "pubmedbert-base to be trained pretrained here, recipe pubmedbert-base: "
    assert re.search(re.escape(trained) + r"[\d.<]+ hours of one H100", said)
    assert "no-pretraining ready random weights, recipe pubmedbert-base" in said
    assert "biobert-base to be fetched the hub's dmis-lab/biobert-v1.1 at 551ca18efd7f" in said
    for name, what in (("own", "folder"), ("scispacy-bc5cdr", "folder of predictions")):
        assert f"{name} NOT AVAILABLE a {what} of your own" in said
    assert "set local_files: {my-bert:" in said and "set local_files: {scispacy-bc5cdr:" in said
    (tmp_path / "bert").mkdir()
    write_json(tmp_path / "results/demo/models/pubmedbert-base/config.json", {})
    said = models_of(specs, tmp_path, **study, local_files={"my-bert": str(tmp_path / "bert")})
    assert f"own ready a folder of your own, {tmp_path}/bert" in said
    assert "pubmedbert-base ready pretrained here, recipe pubmedbert-base no-pretraining" in said


def test_hours_are_those_of_all_recipes_that_are_not_made_yet(specs: Path, tmp_path: Path) -> None:
    """A checkpoint that is there is not trained again; a recipe may begin with the end of another."""
    study: dict[str, Any] = {"tables": ["alrowili2021/table02"], "models": ["biom-albert-xxlarge@pmc"]}
    study |= {"scale": "full", "pretrain": ["biom-albert-xxlarge@pmc", "biom-albert-xxlarge"]}

    before = models_of(specs, tmp_path, **study)
    write_json(tmp_path / "results/full/pretraining/biom-albert-xxlarge/step-264000/state.json", {})
    after = models_of(specs, tmp_path, **study)
    assert "and 1 before it" in before and "and 1 before it" not in after
    hours = (re.findall(r"([\d,]+) hours of one H100", said) for said in (before, after))
    [both], [rest] = ([float(one.replace(",", "")) for one in found] for found in hours)
    assert 0 < rest < both


HUB = "the hub's dmis-lab/biobert-v1.1 at 551ca18efd7f"


def test_weights_that_cannot_be_had_say_what_to_do(specs: Path, tmp_path: Path) -> None:
    study: dict[str, Any] = {"tables": ["gu2020/table06"], "models": ["biobert-base"]}
    for links in (None, doctor.Links(False, {})):
        said = models_of(specs, tmp_path, links, **study)
        assert f"biobert-base NOT HERE {HUB}" in said
        assert "biobert-base: to do: fetch on a machine with a network: pubmill mirror x" in said
    [url] = [one for one in doctor.linked(graph(specs, tmp_path, **study)) if "/biobert-v1.1/" in one]
    said = models_of(specs, tmp_path, doctor.Links(True, {url: "404 Not Found"}), **study)
    assert f"biobert-base NOT AVAILABLE {HUB}" in said and f"{url}: 404 Not Found. Put its files" in said


def test_released_weights_that_are_not_pinned_are_reported(specs: Path, tmp_path: Path) -> None:
    url = "https://example.org/bert.tar.gz"
    for name, released in (
        ("newest", "{id: lab/bert, revision: null}"), ("packed", f"{{url: '{url}', sha256: null}}"),
    ):  # fmt: skip
        (specs / f"models/{name}.yaml").write_text(f"name: {name}\nlowercase: true\nreleased: {released}\n")
    study: dict[str, Any] = {"tables": ["gu2020/table06"], "models": ["newest", "packed"]}
    said = models_of(specs, tmp_path, **study)
    assert "newest to be fetched the hub's lab/bert, not pinned: the first download will be kept" in said
    assert f"packed to be fetched the archive {url}, not pinned: the first download will be kept" in said
    pin = {"revision": "ab" * 20, "found": "2026-01-02"}
    write_json(tmp_path / "results/demo/sources/released/newest.json", pin)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    said = models_of(specs, tmp_path, **study, mirror=str(mirror))
    assert "lab/bert at abababababab, not pinned: the first download, 2026-01-02, is kept" in said
    assert "packed NOT AVAILABLE" in said and f"put it into the mirror as {mirror}/example.org" in said
    (mirror / "example.org").mkdir()
    (mirror / "example.org/bert.tar.gz").touch()
    assert "packed ready" in models_of(specs, tmp_path, **study, mirror=str(mirror))


HEADS = {"/f": "200 OK", "/moved": "302 Found", "/no-head": "405 No", "/bad": "400 Bad Request"}
GETS = {"/no-head": "206 Partial", "/bad": "400 Bad Request"}


def test_dead_links_are_found_without_fetching(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent host is asked once and named; no host at all means no network."""
    asked = []

    def answer(talk: Talk) -> None:
        asked.append(f"{talk.method} {talk.path} {talk.range}")
        known = HEADS if talk.method == "HEAD" else GETS
        location = [("Location", "/f")] if talk.path == "/moved" else []
        talk.head(known.get(talk.path, "404 Not Found"), *location, ("Content-Length", 0))

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    silent = [f"http://127.0.0.1:9/{name}" for name in "ab"]
    with serving(answer) as server:
        dead = {f"{server.url}/gone": "404 Not Found", f"{server.url}/bad": "400 Bad Request"}
        dead |= dict.fromkeys(silent, "127.0.0.1:9 does not answer")
        urls = [f"{server.url}/{name}" for name in ("f", "moved", "no-head", "gone", "bad")]
        assert doctor.check_links([*urls, *silent]) == doctor.Links(True, dead)
    assert "GET /no-head bytes=0-0" in asked and not any(one.startswith("GET /f") for one in asked)
    assert doctor.check_links(silent) == doctor.Links(False, {}) and doctor.check_links([]) == ALIVE


def test_the_configuration_is_merged_as_snakemake_does(root: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "x.yaml", tmp_path / "y.yaml"
    first.write_text("study: mine\ntitle: Mine\ntables: []\nlocal_files: {a: /a}\n")
    second.write_text("local_files: {b: /b}\n")
    settings = ["scale=small", 'local_files={"b": "/c"}']
    config = merged_config(root / "config.yaml", [str(first), str(second)], settings)
    assert (config["study"], config["scale"], config["results"]) == ("mine", "small", "results")
    assert config["local_files"] == {"a": "/a", "b": "/c"}
    assert config["models"] is config["mirror"] is None, "those of config.yaml are the demo's"
    no_file = [str(tmp_path / "none.yaml")]
    for files, wrong, message in ((no_file, [], "expected a study"), ([], ["scale"], "name=value")):
        with pytest.raises(PubmillError, match=message):
            merged_config(root / "config.yaml", files, wrong)


def test_the_program_says_it_all_and_reports_by_its_status(tmp_path: Path, mirror: Path) -> None:
    settings = [f"mirror={mirror}", f"results={tmp_path / 'results'}", "models=[no-pretraining]"]
    for datasets, status in (("[bc2gm]", 0), ("[bc2gm, bc5-chem]", 1)):
        options = commands.verb_options([], [*settings, f"datasets={datasets}"])
        done = run_verb("doctor", "--offline", "-v", *options)
        assert done.returncode == status, done.stdout + done.stderr
        assert " ".join(done.stdout.split()).find("bc2gm ready 3 in the mirror not converted yet") > 0
        assert "public; licence: corpus under the NCBI public domain notice" in done.stdout
        assert "\x1b" not in done.stdout
    assert "bc5-chem: to do: fetch https://" in done.stdout
    assert done.stdout.startswith(
        "Ready, to be fetched or to be trained: 1 of 2 datasets and 1 of 1 model of the study"
    )


def test_released_weights_in_the_cache_of_the_hub_are_at_hand(
    specs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the commit that the spec pins, with configuration and weights; without a commit nobody knows."""
    newest = "name: newest\nlowercase: true\nreleased: {id: lab/bert, revision: null}\n"
    (specs / "models/newest.yaml").write_text(newest)

    def look(model: str, file: str, cache_dir: Any, revision: str) -> str | None:
        known = model == "dmis-lab/biobert-v1.1" and revision.startswith("551ca18efd7f")
        return f"/cache/{file}" if known and file in ("config.json", "pytorch_model.bin") else None

    monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", look)
    study: dict[str, Any] = {"tables": ["gu2020/table06"], "models": ["biobert-base", "newest"]}
    for links in (ALIVE, None):
        assert f"biobert-base ready {HUB}, in the cache" in models_of(specs, tmp_path, links, **study)
    assert "newest to be fetched" in models_of(specs, tmp_path, **study)
