"""Commands in messages can be copied into a shell; suggestions begin with the most similar name."""

import shlex

from pubmill.messages import commands
from pubmill.messages.wording import SHOWN, nearest, unknown


def test_commands_are_quoted_and_options_that_take_all_arguments_come_last() -> None:
    configured = commands.configuration_options(["a.yaml"], ["x=1", "y=2"])
    made = commands.snakemake("results/a b.json", configuration=configured, options=["--forcerun", "parse"])
    assert shlex.split(made) == [
        ".venv/bin/snakemake", "results/a b.json", "--profile", "profiles/local", "--configfile", "a.yaml",
        "--config", "x=1", "y=2", "--forcerun", "parse",
    ]  # fmt: skip
    assert commands.configuration_options([]) == []
    repeated = commands.verb_options(["a.yaml"], ["x=1", "y=2"])
    assert repeated == ["--configfile", "a.yaml", "--config", "x=1", "--config", "y=2"]
    said = commands.pubmill("predict", "kept", "my notes.txt")
    assert said == ".venv/bin/pubmill predict kept 'my notes.txt'"
    assert commands.local_files("i2b2") == """--config 'local_files={"i2b2": "/path/to/folder"}'"""


def test_files_of_results_are_made_by_the_study_of_their_configuration() -> None:
    file, configured = "results/a b.json", commands.configuration_options
    assert commands.run_files(file) == ".venv/bin/pubmill run demo 'results/a b.json'"
    assert commands.run_files("a", configuration=configured(["studies/x.yaml"], ["y=1"]), options=["-n"]) == (
        ".venv/bin/pubmill run x a --config y=1 -n"
    )
    assert commands.run_files("a", configuration=configured(["own.yaml", "more.yaml"])) == (
        ".venv/bin/pubmill run own.yaml a --configfile more.yaml"
    )
    assert commands.run_files("a", configuration=configured([], ["y=1"])).endswith("run demo a --config y=1")


def test_the_most_similar_names_come_first_whatever_their_case() -> None:
    assert nearest("PubMedBert", ["biobert", "pubmedbert-base", "electra"])[0] == "pubmedbert-base"
    assert nearest("x", ["b", "a"]) == ["a", "b"]  # equally unlike: by name


def test_a_message_shows_five_names_and_how_many_there_are() -> None:
    names = [f"bc5-{letter}" for letter in "abcdefg"]
    few, many = unknown("dataset", "bc5-a", names[:SHOWN]), unknown("dataset", "bc5-a", names)
    assert few == "there is no dataset 'bc5-a'; the nearest: bc5-a, bc5-b, bc5-c, bc5-d, bc5-e"
    assert many == few + " (7 in all)"
    assert unknown("model", "x", []) == "there is no model 'x'; the nearest: none"
