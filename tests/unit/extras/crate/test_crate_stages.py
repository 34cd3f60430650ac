"""The recipe of a study's RO-Crate."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pubmill.extras.crate.crate_stages import Crate
from pubmill.specs import Specs
from pubmill.stages import Graph

STUDY: dict[str, Any] = {
    "tables": ("gu2020/table06",),
    "models": ("no-pretraining",),
    "datasets": ("bc2gm", "bioasq-yesno"),
}


def test_the_configuration_of_a_crate_names_no_place_of_this_machine(
    demo_specs: Specs, graph_of: Callable[..., Graph], tmp_path: Path
) -> None:
    here: dict[str, Any] = {
        "mirror": str(tmp_path),
        "local_files": {"bioasq": str(tmp_path)},
        "save_minutes": 5.0,
    }
    found = graph_of(demo_specs, **STUDY, **here).stage(Crate).recipe().configuration
    assert found["local_files"] == {"bioasq": "a folder of your own"}
    assert found["tables"] == ["gu2020/table06"] and str(tmp_path) not in str(found)
    assert not {"results", "mirror", "save_minutes"} & found.keys()
    assert "local_files" not in graph_of(demo_specs, **STUDY).stage(Crate).recipe().configuration


def test_source_files_have_the_licence_of_the_first_dataset_and_the_place_to_apply_at(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    """At the demo's scale all its files are made up; one of two datasets must be applied for."""
    names = ("bc2gm", "jnlpba")
    data = {
        name: demo_specs.datasets[name].model_copy(
            update={
                "licence": f"licence of {name}",
                "apply": "https://a.org" if name == "jnlpba" else None,
                "sources": demo_specs.datasets[names[0]].sources,
            }
        )
        for name in names
    }
    specs = demo_specs.model_copy(update={"datasets": {**demo_specs.datasets, **data}})
    made = graph_of(specs, **(STUDY | {"datasets": names}))
    found = made.stage(Crate).recipe()
    files = {made.paths.below(path) for path in made.datasets.inputs("bc2gm").values()}
    assert found.licences == dict.fromkeys(files, "licence of bc2gm")
    assert found.conditions == dict.fromkeys(files, "https://a.org")
    alone = graph_of(specs, **(STUDY | {"datasets": ("bc2gm",)})).stage(Crate).recipe()
    assert alone.licences.keys() == files and not alone.conditions


def test_a_crate_holds_what_is_published_and_names_where_its_sources_are_from(
    demo_specs: Specs, graph_of: Callable[..., Graph]
) -> None:
    made = graph_of(demo_specs, **STUDY)
    records = [made.paths.at(path) for path in made.report.source_records()]
    assert made.stage(Crate).inputs() == [*made.publication.files(), *records] and records
    assert [made.paths.at(path) for path in made.stage(Crate).recipe().results] == made.publication.files()
