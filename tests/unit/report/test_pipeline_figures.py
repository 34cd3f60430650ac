"""The figure of a study's stages."""

from itertools import pairwise

from pubmill.messages.stage_groups import GROUPS
from pubmill.report.pipeline_figures import drawn_sources, layers_of, pipeline_figure

ALL = dict.fromkeys(GROUPS, "1 thing")


def test_every_stage_reads_stages_that_a_run_reaches_before() -> None:
    order = list(GROUPS)
    assert [group for group, reads in GROUPS.items() if not reads] == order[:1]
    assert all(order.index(one) < order.index(stage) for stage, reads in GROUPS.items() for one in reads)


def test_boxes_do_not_overlap_and_arrows_lead_down() -> None:
    figure = pipeline_figure(ALL, {})
    assert [box.stage for box in figure.boxes] == list(GROUPS)
    assert len({(box.x, box.y) for box in figure.boxes}) == len(figure.boxes)
    assert all(box.x + 100 <= 340 for box in figure.boxes)
    column = [box.y for box in figure.boxes if box.stage not in ("convert", "annotate")]
    assert all(below - above == 50 for above, below in pairwise(column))
    assert len(figure.arrows) == sum(map(len, GROUPS.values()))


def test_a_stage_that_is_not_shown_is_passed_through() -> None:
    assert drawn_sources("models", ["download", "models"]) == ["download"]
    figure = pipeline_figure(
        ALL | dict.fromkeys(("parse", "select", "vocabulary", "pack", "pretrain", "trials"), ""), {}
    )
    stages = [box.stage for box in figure.boxes]
    assert stages == ["download", "models", "convert", "fine-tune", "annotate", "score", "tables", "report"]
    assert "models: 1 thing, reads download." in figure.description
    assert "fine-tune: 1 thing, reads models and convert." in figure.description


def test_the_layer_of_a_stage_is_below_all_that_it_reads() -> None:
    edges = {stage: list(GROUPS[stage]) for stage in GROUPS}
    layers = layers_of(edges)
    assert all(layers[one] < layers[stage] for stage, reads in GROUPS.items() for one in reads)


def test_arrows_go_from_box_to_box() -> None:
    """Boxes are 100 wide and 34 high, 50 below and 118 beside each other, within a margin of 2."""
    figure = pipeline_figure(
        dict.fromkeys(("download", "models", "convert", "fine-tune"), "1 thing"), {"models": ("take_model",)}
    )
    assert {box.stage: (box.x, box.y) for box in figure.boxes} == {
        "download": (2, 2), "models": (2, 52), "convert": (120, 52), "fine-tune": (2, 102),
    }  # fmt: skip
    assert [box.rules for box in figure.boxes] == [(), ("take_model",), (), ()]
    assert figure.height == 138
    assert figure.arrows == ("M52 36V52", "M102 19H170V52", "M52 86V102", "M170 86V119H102")
    assert figure.description.startswith("download: 1 thing. models: 1 thing, reads download. convert: ")


def test_a_study_without_anything_has_an_empty_figure() -> None:
    assert pipeline_figure({}, {}).boxes == ()
