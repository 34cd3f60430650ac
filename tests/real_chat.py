"""`transformers serve` with a tiny random model: a real server that speaks OpenAI's protocol for chats."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.waiting import wait_until

SERVE = """
from transformers import modeling_utils
from transformers.cli.transformers import main
modeling_utils.check_and_set_device_map = lambda device: None
main()
"""
"""The program, without the map of devices, for which it asks for accelerate even with one processor."""
START = 60
"""Seconds until the server answers on an idle machine, at most."""
TEMPLATE = "{% for one in messages %}{{ one['role'] }}: {{ one['content'] }}\n{% endfor %}assistant: "


def write_chat_model(folder: Path) -> None:
    """Write a Llama of two layers with random weights, whose tokens are bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    pieces = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens = Tokenizer(BPE({piece: number for number, piece in enumerate(pieces)}, []))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(pieces), hidden_size=32, intermediate_size=64, num_hidden_layers=2, bos_token_id=0,
        num_attention_heads=2, max_position_embeddings=4096, eos_token_id=1, pad_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)


@contextmanager
def real_server(model: Path) -> Iterator[str]:
    """Serve a model folder at a free port while the context lasts; yield the server's address."""
    pytest.importorskip("fastapi", reason="the packages of `transformers serve` are not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-c", SERVE, "serve", str(model), "--host", "127.0.0.1", "--port", str(port)]
    log = model.with_name(f"{model.name}.log")
    with log.open("w") as said:
        running = subprocess.Popen(
            words, stdout=said, stderr=said, env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        )
    address = f"http://127.0.0.1:{port}"

    def is_ready() -> bool:
        assert running.poll() is None, log.read_text()[-2000:]
        try:
            return requests.get(f"{address}/health", timeout=5).ok
        except requests.ConnectionError:
            return False

    try:
        wait_until(is_ready, START, "the server")
        yield f"{address}/v1"
    finally:
        running.terminate()
        running.wait(30)
