"""Answers in a context: windows, targets, and the best spans, on a tiny random BERT."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SpanExample
from pubmill.finetuning.encoders import load_encoder_tokenizer
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.span import ContextWindow, Span, text_of
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SPAN, SYLLABLES

RECIPE = replace(SPAN, max_length=40, stride=8, n_best=20)
KINDS = [("answerable",), ("answerable", "unanswerable")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("models") / "tiny", [*SYLLABLES, "who", "what", "none", "fue"])


def asked(context: str, *answers: str, question: str = "who", name: str = "1", **more: Any) -> SpanExample:
    """An example whose answers stand where they first stand in the context."""
    found = [Answer(text=text, start=context.index(text)) for text in answers]
    return SpanExample(id=name, document=None, question=question, context=context, answers=found, **more)


def task(model: Path, labels: Sequence[str] = ("answerable",), **settings: Any) -> Any:
    """A `Span`; untyped, because `encode` returns instances and the other methods take windows."""
    recipe = replace(RECIPE, **settings)
    return Span(recipe, Reader(load_encoder_tokenizer(model), recipe.max_length or 512, "separate"), labels)


def scored(
    windows: Sequence[ContextWindow], starts: Sequence[Any], ends: Sequence[Any]
) -> list[torch.Tensor]:
    """Outputs of windows from the scores of their places."""
    outputs = [torch.tensor(both, dtype=torch.float32).T for both in zip(starts, ends, strict=True)]
    assert [len(output) for output in outputs] == [len(window.places) for window in windows]
    return outputs


def test_a_window_by_hand(model: Path) -> None:
    example = asked("Ba codi  Fuge.", "codi", question="who lo")
    made = task(model)
    encoded = made.encode([example])
    [window] = encoded.instances
    tokens = load_encoder_tokenizer(model).convert_ids_to_tokens(window.ids)
    assert " ".join(tokens) == "[CLS] who lo [SEP] ba co ##di fu ##ge [UNK] [SEP]"
    assert window.segments == [0] * 4 + [1] * 7
    assert window.places == [0, 4, 5, 6, 7, 8, 9]
    assert window.spans == [(0, 2), (3, 5), (5, 7), (9, 11), (11, 13), (13, 14)]
    assert made.targets([example], [window]) == [[2, 3]]
    assert not any(encoded.counts.values())


def test_windows_share_the_stride_and_only_whole_answers_are_targets(model: Path) -> None:
    """A room of 9 - 1 for ten tokens; the answer at 6 and 7 is whole in both, that at 7 and 8 in one."""
    context = "ba co di fu ge lo mi nu ba di"
    made = task(model, max_length=12, stride=3)
    windows = made.encode([asked(context)]).instances
    assert [(window.first, len(window.places) - 1) for window in windows] == [(0, 8), (5, 5)]
    for answers, expected in [
        (["mi nu"], [[7, 8], [2, 3]]),
        (["nu ba"], [[0, 0], [3, 4]]),
        (["ba co"], [[1, 2], [0, 0]]),
        (["nu ba", "ge", "co"], [[5, 5], [3, 4]]),
        ([], [[0, 0], [0, 0]]),
    ]:
        assert made.targets([asked(context, *answers)] * 2, windows) == expected


@given(st.data())
def test_every_token_is_seen_and_short_answers_are_whole_somewhere(model: Path, data: st.DataObject) -> None:
    words = data.draw(
        st.lists(st.sampled_from([*SYLLABLES, "baco", "FuGe", "𝛼", ".", "x\u0301"]), max_size=60)
    )
    gaps = data.draw(
        st.lists(st.sampled_from([" ", "  ", "\n", "\u00a0", "\u200b "]), min_size=60, max_size=60)
    )
    context = "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    max_length = data.draw(st.integers(8, 40))
    stride = data.draw(st.integers(0, (max_length - 3 - (max_length - 3) // 2) - 1))
    question = " ".join(data.draw(st.lists(st.sampled_from(SYLLABLES), max_size=30)))
    made = task(model, max_length=max_length, stride=stride)
    windows = made.encode([asked(context, question=question)]).instances

    seen: set[int] = set()
    tokenizer = load_encoder_tokenizer(model)
    for window in windows:
        assert len(window.ids) <= max_length and len(window.places) - 1 >= min(1, len(window.spans))
        for place, number in zip(window.places[1:], range(window.first, len(window.spans)), strict=False):
            seen.add(number)
            start, end = window.spans[number]
            token = tokenizer.convert_ids_to_tokens(window.ids[place])
            assert token in (context[start:end].lower(), "##" + context[start:end].lower(), "[UNK]")
    assert seen == set(range(len(windows[0].spans)))
    overlaps = [a.first + len(a.places) - 1 - b.first for a, b in pairwise(windows)]
    assert overlaps == [stride] * (len(windows) - 1)

    if seen and stride:
        first = data.draw(st.integers(0, max(seen)))
        last = data.draw(st.integers(first, min(max(seen), first + stride - 1)))
        text = context[windows[0].spans[first][0] : windows[0].spans[last][1]]
        example = replace(
            asked(context, question=question), answers=[Answer(text=text, start=windows[0].spans[first][0])]
        )
        targets = made.targets([example], windows)
        assert any(target != [0, 0] for target in targets)
        for window, (start, end) in zip(windows, targets, strict=True):
            if start:
                both = window.first + int(start) - 1, window.first + int(end) - 1
                assert text_of(context, window.spans, both) == text.strip()


def test_a_long_question_loses_its_end(model: Path) -> None:
    made = task(model, max_length=13, stride=2)
    long, short = "ba " * 6, "ba " * 5
    encoded = made.encode([asked("co di", question=long), asked("co di", question=short)])
    assert encoded.counts["questions_shortened"] == 1
    assert encoded.instances[0].ids == encoded.instances[1].ids
    assert len(encoded.instances[0].ids) == 3 + 5 + 2


@pytest.mark.parametrize("stride", [5, 128])
def test_a_stride_as_long_as_the_room_is_refused(model: Path, stride: int) -> None:
    with pytest.raises(PubmillError, match=rf"stride is {stride}; it must be .* below 5: .* of 13\."):
        task(model, max_length=13, stride=stride)
    task(model, max_length=13, stride=4)


def test_what_could_not_be_read_as_it_stands_is_counted(model: Path) -> None:
    """Answers inside of tokens, an answer cut by every window, a context that gives no token."""
    inside = asked("ba coxdi fu", "oxd", "ba")
    split = asked(" ".join(SYLLABLES), " ".join(SYLLABLES))
    nothing = asked("\u200d", "\u200d")
    made = task(model, max_length=10, stride=0)
    encoded = made.encode([inside, split, nothing])
    assert encoded.counts == {
        "questions_shortened": 0, "contexts_split": 1, "contexts_without_subword": 1, "answers_inexact": 2,
        "answers_in_no_window": 2,
    }  # fmt: skip
    targets = made.targets([inside, split, nothing], encoded.instances)
    assert targets == [[2, 2], [0, 0], [0, 0], [0, 0]]


def test_the_loss_by_hand(model: Path) -> None:
    made = task(model)
    windows = made.encode([asked("ba co"), asked("ba co di fu ge")]).instances
    batch = collate(windows, 0, torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(3 + 6, 2, generator=generator)
    targets = [1, 2, 0, 0]

    def entropy(column: list[float], right: int) -> float:
        return math.log(sum(map(math.exp, column))) - column[right]

    first, second = scores[:3].T.tolist(), scores[3:].T.tolist()
    expected = [entropy(column, right) for column, right in zip([*first, *second], targets, strict=True)]
    loss = made.loss(torch.nn.Identity(), scores, batch, torch.tensor(targets, dtype=torch.float32))
    assert loss.item() == pytest.approx(sum(expected) / 4, rel=1e-5)


@given(st.data())
def test_predictions_are_those_of_brute_force(model: Path, data: st.DataObject) -> None:
    """Over all windows; with as many starts and ends tried as there are, these are simply the best."""
    words = data.draw(st.lists(st.sampled_from(["ba", "Co", "difu"]), min_size=1, max_size=14))
    longest, context = data.draw(st.integers(1, 4)), " ".join(words)
    made = task(model, max_length=14, stride=3, n_best=15, max_answer_length=longest)
    example = asked(context)
    windows = made.encode([example]).instances
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    outputs = [torch.from_numpy(generator.normal(size=(len(w.places), 2))) for w in windows]
    texts: dict[str, float] = {}
    for window, output in zip(windows, outputs, strict=True):
        for a in range(1, len(output)):
            for b in range(a, min(len(output), a + longest)):
                start = window.spans[window.first + a - 1][0]
                end = window.spans[window.first + b - 1][1]
                score = float(output[a, 0] + output[b, 1])
                texts[context[start:end]] = max(score, texts.get(context[start:end], -math.inf))
    expected = sorted(texts.items(), key=lambda one: -one[1])[:15]
    [answers] = made.predictions([example], windows, outputs)
    assert [one["text"] for one in answers] == [text for text, _ in expected]
    total = sum(math.exp(score) for _, score in expected)
    assert [one["probability"] for one in answers] == pytest.approx(
        [math.exp(score) / total for _, score in expected]
    )


@pytest.mark.parametrize(
    ("context", "starts", "ends", "kinds", "text"),
    [
        # casing and white space are those of the context
        ("Ba  CoDi\u00a0Fué.", [0, 0, 9, 0, 0, 0], [0, 0, 0, 0, 9, 0], KINDS[0], "CoDi\u00a0Fué"),
        # there is an answer though all best ends come before all best starts
        ("ba co", [0, 0, 2], [0, 3, 0], KINDS[0], "ba"),
        # of a context without tokens none is predicted
        ("\u200d", [1], [1], KINDS[0], ""),
        ("\u200d", [1], [1], KINDS[1], ""),
    ],
)
def test_the_best_answer(
    model: Path, context: str, starts: list[int], ends: list[int], kinds: tuple[str, ...], text: str
) -> None:
    made, example = task(model, kinds, n_best=1), asked(context)
    windows = made.encode([example]).instances
    assert made.predictions([example], windows, scored(windows, [starts], [ends])) == [[best(text, 1.0)]]


def best(text: str, probability: float) -> Any:
    return {"text": text, "probability": probability}


def test_no_answer_wins_by_its_least_score_where_it_is_possible(model: Path) -> None:
    """The first place scores 6 and 4 in the two windows, the best answer 5, or 4, or 3."""
    context = "ba co di fu ge lo mi nu ba di"
    made = {
        labels: task(model, labels, max_length=12, stride=3, n_best=2, max_answer_length=1)
        for labels in KINDS
    }
    example = asked(context)
    windows = made[KINDS[0]].encode([example]).instances

    def predicted(labels: tuple[str, ...], most: float) -> list[tuple[str, float]]:
        first = [[3, 0, most - 1] + [0] * 6, [2, 0, 0, 0, 0, 0]]
        second = [[3, 0, 1] + [0] * 6, [2, 0, 0, 0, 0, 0]]
        [answers] = made[labels].predictions([example], windows, scored(windows, first, second))
        return [(one["text"], one["probability"]) for one in answers]

    for most, texts in ((5, ["co", ""]), (4, ["co", ""]), (3, ["", "co"])):
        assert [text for text, _ in predicted(KINDS[1], most)] == texts
    total = math.exp(3) + math.exp(4) + math.exp(0)
    assert [p for _, p in predicted(KINDS[1], 3)] == pytest.approx([math.exp(4) / total, math.exp(3) / total])
    [(top, share), (other, rest)] = predicted(KINDS[0], 3)
    assert (top, other) == ("co", "ba") and share == pytest.approx(1 / (1 + math.exp(-3)))
    assert share + rest == pytest.approx(1)


def test_unanswerable_are_questions_without_answers_and_golds() -> None:
    answered, elsewhere = asked("ba co", "co"), asked("ba co", golds=["di"])
    assert tuple(Span.labels_of(RECIPE, [answered, elsewhere])) == KINDS[0]
    assert tuple(Span.labels_of(RECIPE, [answered, asked("ba")])) == KINDS[1]


def test_dev_scores_are_of_questions_over_all_their_contexts(model: Path) -> None:
    """Three questions; what is predicted of the second one's context stands for itself."""
    examples = [
        asked("ba co", "ba co", name="1_0", group="1", golds=["BA CO", "nu"]),
        asked("ba", name="1_1", group="1", golds=["BA CO", "nu"]), asked("lo mi", "lo mi", name="2"),
        asked("lo mi", "mi", name="3_0", group="3"), asked("lo di", "di", name="3_1", group="3"),
    ]  # fmt: skip
    predicted = [
        [best("co", 0.6), best("ba co", 0.4)], [best("", 0.99), best("Co", 0.9), best("ba", 0.5)],
        [best("", 0.9), best("lo mi", 0.1)], [best("lo", 0.2)], [best("Di", 0.3)],
    ]  # fmt: skip
    assert task(model).dev_score(examples, predicted) == pytest.approx((2 / 3 + 0 + 1) / 3)
    found = task(model, metric="mrr").dev_score(examples, predicted)
    assert found == pytest.approx((1 / 3 + 1 + 1) / 3)
