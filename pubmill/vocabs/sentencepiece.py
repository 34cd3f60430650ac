"""SentencePiece (Kudo and Richardson 2018): vocabularies learnt by its own trainer from word counts.

The trainer accepts counted words (`input_format=tsv`). For byte-pair merges this is equivalent to the text,
whose words the trainer would count first. The unigram model derives its initial pieces from substrings of the
distinct words, where from text it would count substrings of the text; every later step weights words by their
counts. In return it sees the whole corpus, where from text it would need a sample.

Text is normalised as by ALBERT's tokenizer and not by SentencePiece, so that `tokenizers`, which
`AutoTokenizer` uses, sees the same words as the trainer.
"""

import io
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Tokenizer
from tokenizers.decoders import Metaspace as MetaspaceDecoder
from tokenizers.models import BPE, Unigram
from tokenizers.normalizers import NFKD, Lowercase, Normalizer, Replace, Sequence, StripAccents
from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
from tokenizers.pre_tokenizers import Sequence as SplitSequence
from tokenizers.processors import TemplateProcessing

from pubmill.errors import PubmillError
from pubmill.vocabs.wordpiece import write_tokenizer

WORD = "▁"  # prefix of the first piece of a word
# ALBERT's, in its order (Lan et al. 2020)
SPECIAL = {"pad": "<pad>", "unk": "<unk>", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
COVERAGE = 0.99995  # ALBERT's; rarer characters are unknown
LONGEST = 1000  # most characters of a word; longer strings are not words and are skipped
_PLAIN = re.compile("[!-&(-_a-~]+")  # ASCII without ' and `
# fixed, because the last digits of sums depend on the number of threads
THREADS = 2


def normalizer(lowercase: bool) -> Normalizer:
    """Return ALBERT's normalisation: compatibility forms, no accents, and lower case if requested."""
    steps = [Replace("``", '"'), Replace("''", '"'), NFKD(), StripAccents()]
    return Sequence([*steps, *([Lowercase()] if lowercase else [])])


def normalise(words: Mapping[str, int], lowercase: bool) -> dict[str, int]:
    """Return counted words in ALBERT's normal form."""
    counts, form = Counter[str](), normalizer(lowercase)
    for word, count in words.items():
        if _PLAIN.fullmatch(word):
            counts[word.lower() if lowercase else word] += count
        else:
            for part in form.normalize_str(word).split():
                counts[part] += count
    return counts


def learn(words: Mapping[str, int], size: int, model: str, special: Mapping[str, str]) -> tuple[bytes, int]:
    """Return SentencePiece's serialised model ("unigram" or "bpe") of at most `size` pieces, and the number
    of words skipped as too long. Equal counts result in equal models. Raises `PubmillError` if `size` is too
    small."""
    short = {word: count for word, count in words.items() if len(word) <= LONGEST}
    written = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        counted = Path(folder) / "words.tsv"
        counted.write_text("".join(f"{word}\t{short[word]}\n" for word in sorted(short)), encoding="utf-8")
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(counted),
                input_format="tsv",
                model_writer=written,
                model_type=model,
                vocab_size=size,
                hard_vocab_limit=False,
                normalization_rule_name="identity",
                character_coverage=COVERAGE,
                bos_id=-1,
                eos_id=-1,
                control_symbols=[special[name] for name in ("cls", "sep", "mask") if name in special],
                num_threads=THREADS,
                minloglevel=2,
                pad_id=0 if "pad" in special else -1,
                unk_id=1 if "pad" in special else 0,
            )
        except (RuntimeError, OSError) as error:
            reason = str(error).splitlines()[-1][-200:]
            raise PubmillError(
                f"SentencePiece can't learn {size} pieces from these words: {reason}"
            ) from None
    made = sentencepiece_model_pb2.ModelProto.FromString(written.getvalue())  # type: ignore[attr-defined]
    made.trainer_spec.ClearField("input")  # a temporary file's name, different each time
    return bytes(made.SerializeToString(deterministic=True)), len(words) - len(short)


def read_pieces(model: bytes) -> list[tuple[str, float]]:
    """Return the pieces of a serialised model with their scores, by id."""
    loaded = sentencepiece.SentencePieceProcessor(model_proto=model)
    numbers = range(loaded.get_piece_size())
    return [(loaded.id_to_piece(number), loaded.get_score(number)) for number in numbers]


def make_tokenizer(pieces: list[tuple[str, float]], model: str, lowercase: bool) -> Tokenizer:
    """Return ALBERT's tokenizer over a model's pieces, with byte-pair merges if `model` is `bpe`."""
    ids = {piece: number for number, (piece, _) in enumerate(pieces)}
    tokenizer = Tokenizer(
        Unigram(pieces, unk_id=ids["<unk>"], byte_fallback=False)
        if model == "unigram"
        else BPE(vocab=ids, merges=merges(ids), unk_token="<unk>", fuse_unk=True)
    )
    tokenizer.normalizer = normalizer(lowercase)
    metaspace = Metaspace(replacement=WORD, prepend_scheme="always")
    tokenizer.pre_tokenizer = SplitSequence([WhitespaceSplit(), metaspace])
    tokenizer.decoder = MetaspaceDecoder(replacement=WORD, prepend_scheme="always")
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    tokenizer.add_special_tokens(
        [AddedToken(mark, lstrip=name == "mask", normalized=False) for name, mark in SPECIAL.items()]
    )
    return tokenizer


def merges(ids: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return the merges of a byte-pair model, whose pieces are in the order in which they were learnt. These
    are all pairs of pieces that join to a piece, ordered by the joined piece."""
    learnt = []
    for piece in sorted(ids, key=ids.__getitem__):
        cuts = ((piece[:cut], piece[cut:]) for cut in range(1, len(piece)))
        pairs = [(left, right) for left, right in cuts if left in ids and right in ids]
        learnt += sorted(pairs, key=lambda pair: (ids[pair[0]], ids[pair[1]]))
    return learnt


def save(tokenizer: Tokenizer, model: bytes, kind: str, lowercase: bool, folder: Path) -> None:
    """Write tokenizer.json, spiece.model and tokenizer_config.json. `AutoTokenizer` makes an AlbertTokenizer
    from a unigram model; it has no class for merges in ALBERT's form and uses tokenizer.json unchanged."""
    (folder / "spiece.model").write_bytes(model)
    tokens = SPECIAL | {"bos": SPECIAL["cls"], "eos": SPECIAL["sep"]}
    name = "AlbertTokenizer" if kind == "unigram" else "PreTrainedTokenizerFast"
    casing = {"do_lower_case": lowercase, "keep_accents": False}
    write_tokenizer(tokenizer, folder, tokens, tokenizer_class=name, **casing)


def as_wordpiece(pieces: list[tuple[str, float]], size: int, special: tuple[str, ...]) -> list[str]:
    """Return a SentencePiece vocabulary in BERT's form, as in shin2020 Figure 1.

    `▁` is removed from pieces that begin a word, and `##` is put before the others. Both forms of every
    character come first, so that no word of known characters is unknown (SentencePiece can fall back on a
    lone `▁`, BERT cannot); then the pieces in their order until there are `size`.
    """
    learnt = [piece for piece, _ in pieces if piece not in ("<unk>", WORD)]
    characters = sorted({piece.removeprefix(WORD) for piece in learnt if len(piece.removeprefix(WORD)) == 1})
    both = [*special, *characters, *(f"##{character}" for character in characters)]
    if size < len(both):
        raise PubmillError(
            f"a vocabulary of {size} is too small: special tokens and characters are {len(both)}"
        )
    forms = (piece[1:] if piece.startswith(WORD) else f"##{piece}" for piece in learnt)
    return list(dict.fromkeys([*both, *forms]))[:size]
