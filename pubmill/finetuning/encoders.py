"""Encoders and tokenizers that transformers can load from a folder, without network access or remote code."""

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from tokenizers import AddedToken
from tokenizers.pre_tokenizers import ByteLevel
from torch import Tensor

from pubmill.errors import PubmillError
from pubmill.recipes import FinetuningRecipe, Precision
from pubmill.storage import encoder_checks
from pubmill.storage.checksums import check_folder
from pubmill.storage.model_folder_checks import load_weights

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DROPOUTS = (
    "hidden_dropout_prob attention_probs_dropout_prob attention_dropout dropout embedding_dropout "
    "mlp_dropout dropout_rate resid_pdrop embd_pdrop attn_pdrop"
).split()
"""Configuration keys of encoders for the dropout of gu2020 section 6.2; each encoder has some of them."""
UNLIMITED = 2**31
"""Input length of an encoder without a limit (T5): longer than any input."""
READ_PADDING = ("fnet", "convbert", "funnel", "nystromformer", "yoso", "cpmant")
"""Types of encoders whose encodings depend on padding."""
FUSED = ("eurobert", "jina_embeddings_v3", "nomic_bert")
"""Further types of encoders that transformers gives fused attention over all tokens on a GPU."""
NEXT_SENTENCE = ("bert", "megatron-bert")
"""Types of encoders whose pooler is pretrained, by next-sentence prediction."""
BLOCKS = "blocks"
"""Name of our attention among those of transformers, within blocks of inputs that are one sequence otherwise.
A block has inputs of similar lengths, so a batch of several blocks has little padding. Only attention knows
of blocks: all other work on a batch is done at once, in few and large products of matrices."""
SEE_ALL = ("albert", "bert", "camembert", "distilbert", "electra", "roberta", "xlm-roberta")
"""Types of encoders in which a token sees all others, only through attention, and its place by
`position_ids`. On a GPU, transformers gives them fused attention."""


@dataclass(frozen=True, slots=True)
class Block:
    """`inputs` of one padded `width`; `mask` (inputs x 1 x width): what is added to scores; None: nothing."""

    inputs: int
    width: int
    mask: Tensor | None


def load_encoder_tokenizer(folder: Path, words: bool = False) -> "PreTrainedTokenizerBase":
    """Return the model folder's own fast tokenizer; with `words`, set up for words given one by one.

    With `words`, byte-level BPE (RoBERTa, ModernBERT) reads every word, including a sentence's first, as if a
    space preceded it. Other tokenizers are not changed; `Reader` adds the space to each word if they need it.
    """
    from transformers import AutoTokenizer

    check_is_model_folder(folder)
    spaced = {"add_prefix_space": True} if words else {}
    tokenizer = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False, **spaced
    )
    encoder_checks.check_tokenizer(tokenizer, str(folder))
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token  # Padding is masked, whatever its id.
    splitter = tokenizer.backend_tokenizer.pre_tokenizer
    if words and isinstance(splitter, ByteLevel):
        # Tokenizers without their own class (ModernBERT's) ignore the argument above.
        splitter.add_prefix_space = True
    return tokenizer


def load_encoder(folder: Path, dropout: float, device: torch.device) -> "PreTrainedModel":
    """Return the model folder's encoder in float32, without pooler; missing weights are an error."""
    encoder: Any = read_encoder(folder, dropout, device)[0]
    moved: PreTrainedModel = encoder.to(device)
    return moved


def read_encoder(
    folder: Path, dropout: float, device: torch.device
) -> tuple["PreTrainedModel", torch.nn.Linear | None]:
    """Return the encoder, in float32 and without pooler, with attention chosen for `device`, and its pooler's
    linear layer if that learnt next-sentence prediction; else None (no pooler, or maybe an untrained one, as
    in RoBERTa's files). Both remain on the CPU, where new weights (of a head) are drawn, so that they are
    equal for every device."""
    check_is_model_folder(folder)
    config = encoder_checks.load_config(folder, str(folder))
    encoder_checks.check_encoder(config, str(folder))
    for part in (config, *(getattr(config, name) for name in config.sub_configs)):
        for name in DROPOUTS:
            if hasattr(part, name):
                setattr(part, name, dropout)
    encoder, missing = load_weights(
        encoder_checks.encoder_class(config), folder, config, str(folder), dtype=torch.float32
    )
    pooler = getattr(encoder, "pooler", None)
    if pooler is not None:
        optional = "add_pooling_layer" in inspect.signature(type(encoder).__init__).parameters
        encoder.pooler = None if optional else torch.nn.Identity()  # LayoutLM and SqueezeBERT call theirs.
    if encoder_checks.is_causal(config):
        encoder.config.use_cache = False
    if device.type == "cpu":
        # With dropout, on sentences, plain attention is 1.2 times as fast on a CPU. On a GPU, transformers
        # chooses: fused attention, or plain attention for classes without a fused one (DeBERTa).
        use_blocks(encoder)
    new = config.model_type not in NEXT_SENTENCE or any("pooler" in key for key in missing)
    return encoder, None if pooler is None or new else pooler.dense


def longest_input(encoder: "PreTrainedModel") -> int:
    """Return the number of tokens that the encoder's positions allow, regardless of the tokenizer's limit.
    For relative (DeBERTa) or rotary positions (ModernBERT) it is the configured length; T5 has no limit."""
    length = encoder_checks.longest_text(stack_config(encoder))
    if length is None:
        return UNLIMITED
    return length - first_position(encoder)


def first_position(encoder: "PreTrainedModel") -> int:
    """Return the position of a text's first token. RoBERTa and related models number positions from the
    padding token's id + 1."""
    first = 0
    for name, module in encoder.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            first = int(module.padding_idx) + 1
    return first


def encoding_size(encoder: "PreTrainedModel") -> int:
    """Return the size of an encoding, from that of an input: no key of configurations says it for all (OPT
    projects encodings, Reformer's have two streams). No random number is drawn."""
    width = fixed_width(encoder, longest_input(encoder)) or 2
    ids = torch.zeros(1, width, dtype=torch.int64, device=encoder.device)
    training = encoder.training
    encoder.train(False)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        size = encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.shape[-1]
    encoder.train(training)
    return int(size)


def stack_config(encoder: "PreTrainedModel") -> Any:
    """Return the configuration of the part with the layers: the encoder's own, or one in it (T5Gemma)."""
    configs = (getattr(module, "config", None) for module in encoder.modules())
    return next((config for config in configs if hasattr(config, "num_hidden_layers")), encoder.config)


def fixed_width(encoder: "PreTrainedModel", longest: int) -> int | None:
    """Return the width to which all batches must be padded; None if it may vary. It is `longest` for encoders
    whose encodings depend on padding, and the configured length for axial positions (Reformer).

    FNet and Funnel mix all positions, and ConvBERT and Nystromformer convolve over them, so that an input's
    encodings would depend on the other inputs of its batch.
    """
    config: Any = encoder.config
    if config.model_type == "reformer" and config.axial_pos_embds:
        return int(math.prod(config.axial_pos_shape))
    return longest if config.model_type in READ_PADDING else None


def has_segments(encoder: "PreTrainedModel") -> bool:
    """Whether the encoder has segment ids, which distinguish two texts."""
    return int(getattr(encoder.config, "type_vocab_size", 0) or 0) > 1


def layers(encoder: "PreTrainedModel") -> torch.nn.ModuleList:
    """Return the encoder's layers, lowest first. Raises a `PubmillError` for an encoder whose layers share
    their weights (ALBERT), as no single layer can be treated differently."""
    count = int(stack_config(encoder).num_hidden_layers)
    lists = (module for module in encoder.modules() if isinstance(module, torch.nn.ModuleList))
    stacks = [modules for modules in lists if len(modules) == count]
    if getattr(encoder.config, "num_hidden_groups", None) or len(stacks) != 1:
        raise PubmillError(
            f"{type(encoder).__name__}: its {count} layers cannot be separated (they share weights, or their "
            "names are unknown), so none can be frozen, slowed, re-initialised or removed alone"
        )
    return stacks[0]


def embeddings(encoder: "PreTrainedModel") -> list[torch.nn.Module]:
    """Return all modules below the lowest layer: embeddings, their norm and projection. Embeddings of
    relative positions that all layers share (DeBERTa) are included."""
    tokens, stack = encoder.get_input_embeddings(), layers(encoder)
    below: list[torch.nn.Module] = []
    for child in encoder.children():
        if any(module is stack for module in child.modules()):
            beside = [module for module in child.children() if module is not stack]
            if any(isinstance(module, torch.nn.Embedding) for module in beside):
                below += beside
            break
        below.append(child)
    if not any(module is tokens for child in below for module in child.modules()):
        raise PubmillError(f"{type(encoder).__name__}: its embeddings don't stand before its layers")
    return below


def check_is_model_folder(folder: Path) -> None:
    """Refuse a folder without config.json or without weights as safetensors, and one that is damaged."""
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise PubmillError(
            f"{folder} is no model folder: it needs config.json and weights as *.safetensors "
            f"(pickled weights are not read; the stage export_model makes such a folder)"
        )
    check_folder(folder)


def forward(encoder: "PreTrainedModel", inputs: Tensor, blocks: Sequence[Block] | None = None) -> Tensor:
    """Return the encodings, inputs x tokens x width, of a batch's `inputs`. `blocks`: those that follow one
    another in a single input, for an encoder that attends in blocks."""
    ids, mask, *segments = inputs
    further: dict[str, Any] = {"token_type_ids": segments[0]} if segments else {}
    if blocks:
        first = first_position(encoder)
        positions = [torch.arange(first, first + block.width).repeat(block.inputs) for block in blocks]
        further |= {"position_ids": torch.cat(positions)[None], "blocks": blocks}
        # transformers reads no mask of four dimensions, and neither does `attend`.
        mask = mask[:, None, None]
    mask = attention_mask(encoder, mask) if mask.device.type == "cuda" else mask
    hidden: Tensor = encoder(input_ids=ids, attention_mask=mask, **further).last_hidden_state
    return hidden


def possible_precision(config: Any, wanted: Precision) -> Precision:
    """Return the precision that an encoder computes in: float32 for FNet, whose Fourier transforms have no
    kernels for bfloat16; raise a `PubmillError` if the recipe names another."""
    if config.model_type != "fnet":
        return wanted
    if wanted in ("bfloat16", "float16"):
        raise PubmillError(f"precision: FNet cannot compute in {wanted}; ask for float32 or auto")
    return "float32"


def attention_mask(encoder: "PreTrainedModel", mask: Tensor) -> Tensor:
    """Return the mask for fused attention, inputs x 1 x 1 x tokens: 0 at tokens, -infinity at padding.

    transformers would ask the GPU whether any token is masked, so the host would wait for it at each batch,
    and PyTorch would convert a mask of booleans in every layer. `mask` (inputs x tokens) is returned
    unchanged for decoders and for types of encoders that were not tried with such a mask.
    """
    if not sees_all_tokens(encoder) and encoder.config.model_type not in FUSED:
        return mask
    added = mask.new_zeros(mask.shape, dtype=encoder.dtype).masked_fill_(mask == 0, -torch.inf)
    return added[:, None, None, :]


def add_tokens(
    tokenizer: "PreTrainedTokenizerBase", encoder: "PreTrainedModel", wanted: Sequence[str]
) -> None:
    """Add tokens, such as marks, to tokenizer and encoder, unless a kept model has them already. Their
    embeddings are initialised like an encoder's, normally distributed, and depend only on the seed, since
    they are drawn on the CPU for every device."""
    known = tokenizer.get_vocab()
    new = [mark for mark in wanted if mark not in known]
    if not new:
        return
    # lstrip: otherwise byte-level tokenizers make a token of the space before a mark.
    tokens = [AddedToken(mark, lstrip=True, normalized=False, special=True) for mark in new]
    tokenizer.add_tokens(tokens, special_tokens=True)
    ids = [int(tokenizer.get_vocab()[mark]) for mark in new]
    # Some encoders have more rows than their tokenizers have tokens.
    if max(ids) >= len(_embedding_matrix(encoder)):
        encoder.resize_token_embeddings(max(ids) + 1, mean_resizing=False)
    rows = _embedding_matrix(encoder)
    std = float(getattr(encoder.config, "initializer_range", 0.02))
    with torch.no_grad():
        rows[ids] = torch.normal(0.0, std, (len(ids), rows.shape[1])).to(rows)


def _embedding_matrix(encoder: "PreTrainedModel") -> Tensor:
    """Return the embeddings of the vocabulary, subwords x width."""
    weight = encoder.get_input_embeddings().weight
    assert isinstance(weight, Tensor)
    return weight


def prepare_encoder(encoder: "PreTrainedModel", recipe: FinetuningRecipe) -> None:
    """Remove top layers, re-initialise the top remaining ones and freeze low ones, as the recipe specifies.
    Raises a `PubmillError` if the encoder has too few layers, or layers that cannot be separated."""
    if not (recipe.removed_layers or recipe.reinitialised_layers or recipe.frozen_layers is not None):
        return
    stack, config = layers(encoder), stack_config(encoder)
    count = len(stack)
    left, frozen = count - recipe.removed_layers, recipe.frozen_layers or 0
    if left < 1:
        raise PubmillError(
            f"removed_layers is {recipe.removed_layers}, but the encoder has {count} layers; at least one "
            "must stay"
        )
    if recipe.reinitialised_layers + frozen > left:
        raise PubmillError(
            f"reinitialised_layers is {recipe.reinitialised_layers} and frozen_layers {frozen}: more than "
            f"the {left} layers that the encoder has after removed_layers, and none can be both"
        )
    if recipe.removed_layers:  # tinn2021 section 3.5; a norm that follows the layers stays
        del stack[left:]
        config.num_hidden_layers = left
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:left]
    # By the encoder's own initialisation, from torch's global generator (Zhang et al. 2021).
    if recipe.reinitialised_layers:
        new = layers(type(encoder)(encoder.config))
        for place in range(left - recipe.reinitialised_layers, left):
            stack[place].load_state_dict(new[place].state_dict())
    if recipe.frozen_layers is not None:
        # Only weights are frozen (Grießhaber et al. 2020): dropout stays active, as in all other fine-tuning.
        for module in (*embeddings(encoder), *stack[:frozen]):
            module.requires_grad_(False)


def block_of(mask: Tensor) -> Block:
    """Return the block whose inputs have this mask (inputs x width, 1 for tokens)."""
    padding = mask == 0
    added = torch.zeros(mask.shape).masked_fill_(padding, -torch.inf)[:, None]
    inputs, width = mask.shape
    return Block(inputs, width, added if padding.any() else None)


def sees_all_tokens(encoder: "PreTrainedModel") -> bool:
    """Return whether an encoder is of one of the `SEE_ALL`, and no decoder."""
    return encoder.config.model_type in SEE_ALL and not getattr(encoder.config, "is_decoder", False)


def use_blocks(encoder: "PreTrainedModel") -> None:
    """Let an encoder attend in blocks if it can; without blocks it attends as with transformers' `eager`."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    able = sees_all_tokens(encoder)
    if able:
        AttentionInterface.register(BLOCKS, attend)
        AttentionMaskInterface.register(BLOCKS, eager_mask)
    encoder.set_attn_implementation(BLOCKS if able else "eager")
    encoder.attends_in_blocks = able  # type: ignore[assignment]  # of ours; copies of the encoder have it too


def uses_blocks(encoder: "PreTrainedModel") -> bool:
    return bool(getattr(encoder, "attends_in_blocks", False))


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    blocks: Sequence[Block] | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Return the means of values, inputs x tokens x heads x size; all arguments are inputs x heads x tokens x
    size. With `blocks`, there is one input, in which each block's inputs follow one another."""
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling

    def means(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        scores = query @ key.transpose(-1, -2) * scaling
        weights = (scores if mask is None else scores + mask).softmax(-1)
        return torch.nn.functional.dropout(weights, dropout, module.training) @ value

    if blocks is None:
        return means(query, key, value, attention_mask).transpose(1, 2).contiguous(), None
    sizes = [block.inputs * block.width for block in blocks]
    parts = zip(*(torch.split(tensor[0], sizes, 1) for tensor in (query, key, value)), strict=True)
    found = []
    for block, tensors in zip(blocks, parts, strict=True):
        queries, keys, values = (tensor.unflatten(1, (block.inputs, block.width)) for tensor in tensors)
        found.append(means(queries, keys, values, block.mask).permute(1, 2, 0, 3).flatten(0, 1))
    return torch.cat(found)[None], None
