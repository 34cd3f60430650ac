"""The stages of a study as a figure, with lengths as in `figures`: boxes in layers, and an arrow from each to
those that read its results."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pubmill.messages.stage_groups import GROUPS

BOX_WIDTH, BOX_HEIGHT = 100, 34
LAYER, COLUMN = 50, 118
"""Distance of boxes below and beside each other."""
BESIDE = {"convert": 1, "annotate": 2}
"""Stage -> its column, unless that is the first."""
MARGIN = 2


@dataclass(frozen=True)
class StageBox:
    """A stage with its count in words and its rules; `x`, `y`: its upper left corner."""

    stage: str
    counted: str
    rules: tuple[str, ...]
    x: int
    y: int


@dataclass(frozen=True)
class PipelineFigure:
    """Boxes and the paths of arrows between them."""

    height: int
    boxes: tuple[StageBox, ...]
    arrows: tuple[str, ...]
    description: str


def pipeline_figure(counts: Mapping[str, str], rules: Mapping[str, tuple[str, ...]]) -> PipelineFigure:
    """Return the figure of the groups of stages with a count; `counts`: group -> its count in words, or
    nothing; `rules`: group -> its rules."""
    shown = [stage for stage in GROUPS if counts.get(stage)]
    edges = {stage: drawn_sources(stage, shown) for stage in shown}
    layers = layers_of(edges)
    boxes = {stage: _box(stage, counts[stage], rules.get(stage, ()), layers[stage]) for stage in shown}
    return PipelineFigure(
        height=max((box.y for box in boxes.values()), default=0) + BOX_HEIGHT + MARGIN,
        boxes=tuple(boxes.values()),
        arrows=tuple(_arrow(boxes[one], boxes[stage]) for stage in shown for one in edges[stage]),
        description=" ".join(_sentence(boxes[stage], edges[stage]) for stage in shown),
    )


def _box(stage: str, counted: str, rules: tuple[str, ...], layer: int) -> StageBox:
    x, y = MARGIN + COLUMN * BESIDE.get(stage, 0), MARGIN + LAYER * layer
    return StageBox(stage, counted, rules, x, y)


def drawn_sources(stage: str, shown: Collection[str]) -> list[str]:
    """Return the shown stages that a stage reads, directly or through stages that are not shown."""
    sources: dict[str, None] = {}
    for source in GROUPS.get(stage, ()):
        sources.update(dict.fromkeys([source] if source in shown else drawn_sources(source, shown)))
    return list(sources)


def layers_of(edges: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return the layer of each stage: the length of the longest way to it."""
    layers: dict[str, int] = {}
    for stage, sources in edges.items():  # in the order in which a run reaches them
        layers[stage] = max((layers[source] + 1 for source in sources), default=0)
    return layers


def _arrow(source: StageBox, target: StageBox) -> str:
    """Return the path from one box to another: down within a column, else around one corner."""
    x, middle = target.x + BOX_WIDTH // 2, target.y + BOX_HEIGHT // 2
    if source.x == target.x:
        return f"M{x} {source.y + BOX_HEIGHT}V{target.y}"
    if source.x < target.x:
        return f"M{source.x + BOX_WIDTH} {source.y + BOX_HEIGHT // 2}H{x}V{target.y}"
    return f"M{source.x + BOX_WIDTH // 2} {source.y + BOX_HEIGHT}V{middle}H{target.x + BOX_WIDTH}"


def _sentence(box: StageBox, sources: Collection[str]) -> str:
    reads = f", reads {' and '.join(sources)}" if sources else ""
    return f"{box.stage}: {box.counted}{reads}."
