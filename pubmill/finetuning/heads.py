"""An encoder with a task's prediction layer (gu2020 section 5.1), and how both are loaded."""

import logging
from pathlib import Path

import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from pubmill.errors import PubmillError
from pubmill.finetuning.inputs import Batch

DROPOUTS = ("hidden_dropout_prob", "attention_probs_dropout_prob")
"""Where BERT's configuration (and that of its relatives) keeps the dropout of gu2020 section 6.2."""


class TokenTagger(nn.Module):
    """A linear layer on the encoding of each word's first subword (gu2020 section 5.2, standard)."""

    def __init__(self, encoder: PreTrainedModel, labels: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(encoder.config.hidden_size, labels)
        nn.init.normal_(self.linear.weight, std=0.02)
        nn.init.zeros_(self.linear.bias)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Logits (float32), words x labels, in the order of `batch.positions`."""
        hidden = self.encoder(input_ids=batch.ids, attention_mask=batch.mask).last_hidden_state
        words = hidden.flatten(0, 1).index_select(0, batch.positions)
        logits: torch.Tensor = self.linear(self.dropout(words))
        return logits.float()


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """The model folder's own fast tokenizer; nothing is fetched, no code of the folder is run."""
    _check_folder(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if not tokenizer.is_fast or None in (
        tokenizer.pad_token_id,
        tokenizer.cls_token_id,
        tokenizer.sep_token_id,
    ):
        raise PubmillError(
            f"{folder}: fine-tuning needs a fast tokenizer with [PAD], [CLS] and [SEP]; "
            f"this is {type(tokenizer).__name__}; add a tokenizer.json or vocab.txt to the folder"
        )
    return tokenizer


def load_encoder(folder: Path, dropout: float, device: torch.device) -> PreTrainedModel:
    """The model folder's encoder in float32, without pooler; weights missing from it are an error."""
    _check_folder(folder)
    _quieten()
    encoder, loading = AutoModel.from_pretrained(
        folder,
        local_files_only=True,
        trust_remote_code=False,
        use_safetensors=True,
        dtype=torch.float32,
        # With dropout, and on sentences, plain attention is 1.2 times as fast on a CPU.
        attn_implementation="eager" if device.type == "cpu" else "sdpa",
        output_loading_info=True,
        **dict.fromkeys(DROPOUTS, dropout),
    )
    missing = sorted(key for key in loading["missing_keys"] if "pooler" not in key)
    if missing:
        raise PubmillError(
            f"{folder}: the weights of {len(missing)} parameters are missing, such as {missing[0]}; "
            f"config.json and the safetensors files don't belong together"
        )
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None
    placed: PreTrainedModel = encoder.to(device)
    return placed


def _check_folder(folder: Path) -> None:
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        raise PubmillError(
            f"{folder} is no model folder: it needs config.json and weights as *.safetensors "
            f"(pickled weights are not read; scripts/export_model.py makes such a folder)"
        )


def _quieten() -> None:
    """transformers reports heads left out of a checkpoint as if something were wrong; errors remain."""
    transformers_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
