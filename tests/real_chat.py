"""The server of llama.cpp with a tiny random model: a real one that speaks OpenAI's protocol for chats."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVE = """
import sys
import xllamacpp
asked = xllamacpp.CommonParams()
asked.model.path, asked.port, asked.warmup = sys.argv[1], 0, False
asked.n_ctx, asked.n_parallel, asked.cpuparams.n_threads = 8192, 2, 1
server = xllamacpp.Server(asked)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
"""The program: it prints its address, and ends with its standard input."""
WIDTH, INNER, LAYERS, HEADS = 32, 64, 2, 2
PAIR = 0
"""A byte that no prompt has: the vocabulary joins two of them, since one without any joint is refused."""


def _bytes_as_letters() -> list[str]:
    """Return the letter that stands for each byte in vocabularies of bytes."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = bytes_to_unicode()
    return [letters[byte] for byte in range(256)]


def write_chat_model(file: Path) -> None:
    """Write a Llama of two layers with random weights, whose tokens are bytes, as GGUF."""
    import gguf
    import numpy as np

    letters = _bytes_as_letters()
    tokens = ["<s>", "</s>", *letters, letters[PAIR] * 2]
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * (len(tokens) - 2))
    writer.add_token_merges([f"{letters[PAIR]} {letters[PAIR]}"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    writer.add_chat_template(
        "{% for one in messages %}{{ one['role'] }}: {{ one['content'] }}\n{% endfor %}assistant: "
    )
    random = np.random.default_rng(0)
    for name, shape in _shapes(len(tokens)).items():
        drawn = np.ones(shape) if "norm" in name else 0.3 * random.standard_normal(shape)
        writer.add_tensor(f"{name}.weight", drawn.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def prompt_tokens(messages: list[dict[str, str]]) -> int:
    """Return the number of tokens of some messages: the bytes of the model's template with them."""
    text = "".join(f"{one['role']}: {one['content']}\n" for one in messages) + "assistant: "
    return len(text.encode())


def _shapes(tokens: int) -> dict[str, tuple[int, ...]]:
    """Return tensor -> shape, in llama.cpp's names."""
    square, norm = (WIDTH, WIDTH), (WIDTH,)
    layer = {
        "attn_norm": norm, "ffn_norm": norm, "attn_q": square, "attn_k": square, "attn_v": square,
        "attn_output": square, "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH),
        "ffn_down": (WIDTH, INNER),
    }  # fmt: skip
    layers = {f"blk.{n}.{name}": shape for n in range(LAYERS) for name, shape in layer.items()}
    return {"token_embd": (tokens, WIDTH), "output": (tokens, WIDTH), "output_norm": norm, **layers}


@contextmanager
def real_server(model: Path) -> Iterator[str]:
    """Serve a model at a free port while the context lasts; yield the server's address."""
    pytest.importorskip("xllamacpp", reason="the server of llama.cpp (xllamacpp) is not installed")
    log = model.with_suffix(".log")
    with (
        log.open("w") as said,
        subprocess.Popen(
            [sys.executable, "-c", SERVE, str(model)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
        ) as running,
    ):  # fmt: skip
        assert running.stdout and running.stdin
        lines = iter(running.stdout.readline, "")
        address = next((line.strip() for line in lines if line.startswith("http://")), None)
        assert address, log.read_text()[-2000:]
        try:
            yield f"{address}/v1"
        finally:
            running.kill()
