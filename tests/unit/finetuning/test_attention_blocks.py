"""Attention in blocks: inputs have the encodings that they have as rows of a padded batch."""

from pathlib import Path

import pytest
import torch

from pubmill.finetuning.attention_blocks import TYPES, use_blocks, uses_blocks
from pubmill.finetuning.encoders import load_encoder
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Instance, collate, joined
from tests.unit.finetuning.encoder_families import ARCHITECTURES

CPU = torch.device("cpu")
PARTS = [(5, 5, 5), (6, 9), (11,), (30, 28, 30)]
"""Lengths of the inputs of each part."""


def part(lengths: tuple[int, ...], segments: bool) -> list[Instance]:
    return [
        Instance(
            example=0,
            ids=[5 + (length + place) % 15 for place in range(length)],
            segments=[int(place > length // 2) for place in range(length)] if segments else None,
            places=list(range(length)),
        )
        for length in lengths
    ]


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_encodings_are_those_of_padded_inputs(family: str, folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders[family], 0.0, CPU)
    assert uses_blocks(encoder) == (encoder.config.model_type in TYPES)
    if not uses_blocks(encoder):
        return
    model = TaskModel(encoder, torch.nn.Identity()).eval()
    instances = [part(lengths, family == "bert") for lengths in PARTS]
    whole = collate([one for of_part in instances for one in of_part], 0, CPU)
    blocks = joined([collate(of_part, 0, CPU) for of_part in instances])
    assert blocks.ids.shape == (1, sum(len(one) * max(one) for one in PARTS))
    expected = whole.read(model.encode(whole.inputs))
    found = blocks.read(model.encode(blocks.inputs, blocks.blocks))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    encoder.set_attn_implementation("eager")
    torch.testing.assert_close(whole.read(model.encode(whole.inputs)), expected, rtol=1e-4, atol=1e-5)


def test_decoders_do_not_attend_in_blocks(bert: Path) -> None:
    """They would see what follows."""
    encoder = load_encoder(bert, 0.0, CPU)
    encoder.config.is_decoder = True
    use_blocks(encoder)
    assert not uses_blocks(encoder)
