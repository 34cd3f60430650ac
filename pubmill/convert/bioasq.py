"""Converters of BioASQ task B (Tsatsaronis et al. 2015): its own JSON, and factoid questions in SQuAD's form.

BioASQ gives registered users for each year N an archive with one training file and one with the five
test batches and their gold answers. A question has a type, snippets (excerpts from PubMed, with their
addresses) and an exact answer: `yes` or `no`, or a factoid's synonyms. Each tab or line break in questions
and snippets becomes one space, as in BLURB's own script.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from pubmill.convert import squad
from pubmill.convert.source_files import ConverterInput, JsonModel, SpecError, check_id, one_line, parse_json
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, SequenceExample, SpanExample
from pubmill.messages.quotations import quote, show
from pubmill.storage.archives import members

_OF_SNIPPET = re.compile(r"(.+)_\d+")


class Snippet(JsonModel):
    text: str
    document: Annotated[str, Field(pattern=r"/[\w.-]+$")]


class BioasqQuestion(JsonModel):
    """A question; the form of `exact_answer` depends on the type and the year."""

    id: Annotated[str, Field(pattern=r"^\w+$")]
    type: Literal["yesno", "factoid", "list", "summary"]
    body: str
    exact_answer: Any = None
    snippets: tuple[Snippet, ...] = ()


class _BioasqFile(JsonModel):
    questions: list[BioasqQuestion]


def questions(archive: Path, left_out: Counter[str]) -> dict[str, BioasqQuestion]:
    """Return all questions of a JSON file, or of those of an archive, by id, in their order.

    A question that is repeated identically (in the early years) is left out and counted; one that is repeated
    with different content raises a `PubmillError`.
    """
    by_id: dict[str, BioasqQuestion] = {}
    files = list(json_files(archive))
    if not files:
        raise PubmillError(f"{archive}: there is no .json file in it; is it BioASQ's own archive?")
    for name, content in files:
        for number, question in enumerate(parse_json(_BioasqFile, content, f"{archive}:{name}").questions):
            check_id(question.id, f"{archive}:{name}: questions.{number}.id")
            if question.id not in by_id:
                by_id[question.id] = question
            elif by_id[question.id] == question:
                left_out["repeated_questions"] += 1
            else:
                raise PubmillError(
                    f"{archive}:{name}: question {question.id} occurred before, with different content"
                )
    return by_id


def json_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of a JSON file, or of those of an archive, without those that macOS adds."""
    is_json = path.suffix.lower() == ".json"
    for name, content in [(path.name, path.read_bytes())] if is_json else members(path):
        if name.lower().endswith(".json") and "__MACOSX" not in name and "/._" not in f"/{name}":
            yield name, content


def _questions_of_type(
    by_id: dict[str, BioasqQuestion], wanted: str, left_out: Counter[str]
) -> Iterator[BioasqQuestion]:
    for question in by_id.values():
        if question.type == wanted:
            yield question
        else:
            left_out[question.type.replace("yesno", "yes_no") + "_questions"] += 1


def yes_no(source: ConverterInput) -> Iterator[SequenceExample]:
    """Yield yes/no questions with all their snippets, joined by spaces: BLURB's task (gu2020 section 4.6).

    The sources are the archives `train` and `test`. The option `dev_questions` lists the ids of the training
    questions that form dev.
    """
    source.check_options("dev_questions")
    dev = source.options.get("dev_questions")
    if not isinstance(dev, list) or not all(isinstance(one, str) for one in dev) or len(set(dev)) < len(dev):
        raise SpecError("the converter's option `dev_questions` must be a list of distinct question ids")
    archive = source.input("test" if source.split == "test" else "train")
    # dev reads the file of train, and train already counts what both leave out
    left_out = Counter[str]() if source.split == "dev" else source.left_out
    by_id = {one.id: one for one in _questions_of_type(questions(archive, left_out), "yesno", left_out)}
    if source.split != "test" and not set(dev) <= by_id.keys():
        raise PubmillError(
            f"{archive}: dev questions are not among its yes/no questions; is it of the right year?"
        )
    for question in by_id.values():
        if source.split == "test" or (question.id in dev) == (source.split == "dev"):
            label = question.exact_answer.lower() if isinstance(question.exact_answer, str) else None
            if label not in ("yes", "no"):
                raise PubmillError(
                    f"{archive}: question {question.id}: exact_answer is neither yes nor no"
                    + (f" but {quote(label)}" if label else "")
                )
            if not question.snippets:
                raise PubmillError(
                    f"{archive}: question {question.id} has no snippets; they are its second text"
                )
            yield SequenceExample(
                id=question.id,
                document=None,
                text=one_line(question.body),
                text_pair=" ".join(one_line(snippet.text) for snippet in question.snippets),
                label=label,
            )


def factoid(source: ConverterInput) -> Iterator[SpanExample]:
    """Yield factoid questions, one example per snippet.

    The sources are the archives `train` and `test`. The context of the example QUESTION_NNN is the question's
    snippet NNN, counted from 000; its document is the last part of the snippet's address, a PMID; `find`
    returns its answers. As in BioBERT's files (Lee et al. 2020), train leaves out contexts without an answer,
    and so questions without any, and counts both; test keeps them.
    """
    for _, asked in _asked(source, "factoid"):
        kept = [example for example in asked if example.answers or source.split == "test"]
        if len(kept) < len(asked):
            source.left_out["snippets_without_answer"] += len(asked) - len(kept)
        if not kept:
            source.left_out["questions_without_answer"] += 1
        yield from kept


def list_questions(source: ConverterInput) -> Iterator[SpanExample]:
    """Yield list questions as `factoid` does factoids, with the items and their synonyms.

    In train, an example QUESTION_NNN_K has the K-th answer in the snippet, counted from 0, because one answer
    is learnt from an input; in test, QUESTION_NNN has all of them.
    """
    for items, asked in _asked(source, "list"):
        if source.split != "test":
            source.left_out["snippets_without_answer"] += sum(not one.answers for one in asked)
            source.left_out["questions_without_answer"] += not any(one.answers for one in asked)
            asked = [
                replace(one, id=f"{one.id}_{number}", answers=[answer])
                for one in asked
                for number, answer in enumerate(one.answers)
            ]
        yield from (replace(one, items=items) for one in asked)


def _asked(source: ConverterInput, kind: str) -> Iterator[tuple[list[list[str]], list[SpanExample]]]:
    """Yield items and examples of each question with gold answers and snippets; others are counted."""
    source.check_options()
    archive, left_out = source.of_split(), source.left_out
    for question in _questions_of_type(questions(archive, left_out), kind, left_out):
        items = answer_items(question, archive)
        golds = synonyms(items)
        asked = list(_snippet_examples(question, golds, left_out))
        if golds and asked:
            yield items, asked
        else:
            left_out["questions_without_" + ("snippets" if golds else "gold")] += 1


def answer_items(question: BioasqQuestion, archive: Path) -> list[list[str]]:
    """Return the distinct synonyms, but blank ones, of each item of a question's gold answer; empty if there
    is none. An item may be a string. Early years also give a factoid's answer as a string."""
    answer = question.exact_answer if question.exact_answer is not None else []
    if isinstance(answer, str) and question.type == "factoid":
        answer = [answer]
    stated: list[Any] = answer if isinstance(answer, list) else [None]
    items = [[one] if isinstance(one, str) else one for one in stated]
    if not all(isinstance(item, list) and all(isinstance(name, str) for name in item) for item in items):
        raise PubmillError(
            f"{archive}: question {question.id}: exact_answer is not a list of strings or lists of them"
        )
    named = [list(dict.fromkeys(one_line(name).strip() for name in item if name.strip())) for item in items]
    return [item for item in named if item]


def synonyms(items: list[list[str]]) -> list[str]:
    """Return the distinct names in items; those of a factoid are synonyms, because it has one answer."""
    return list(dict.fromkeys(name for names in items for name in names))


def _snippet_examples(
    question: BioasqQuestion, golds: list[str], left_out: Counter[str]
) -> Iterator[SpanExample]:
    for number, snippet in enumerate(question.snippets):
        context = one_line(snippet.text)
        if not context.strip():
            left_out["empty_snippets"] += 1
            continue
        yield SpanExample(
            id=f"{question.id}_{number:03}",
            document=snippet.document.rpartition("/")[2],
            question=one_line(question.body),
            context=context,
            answers=find(golds, context),
            group=question.id,
            golds=golds,
        )


def factoid_squad(source: ConverterInput) -> Iterator[SpanExample]:
    """Yield factoid questions in the form of BioBERT's authors: SQuAD's JSON with abstracts as contexts.

    The sources are `train`, `test` and `golden`. An id is QUESTION_NNN. `train` includes its answers; `test`
    has none: the golds come from BioASQ's own archive `golden`, and the answers are found as for `factoid`.
    Questions of `golden` that `test` lacks are left out and counted.
    """
    source.check_options()
    test = source.of_split()
    if source.split != "test":
        for example in squad.read(source):
            yield replace(example, document=None, group=_question_id(example.id, test))
        return
    archive = source.input("golden")
    golden = {one.id: one for one in _questions_of_type(questions(archive, Counter()), "factoid", Counter())}
    met: set[str] = set()
    for one, question in squad.questions(test):
        group = _question_id(one.id, test)
        golds = synonyms(answer_items(golden[group], archive)) if group in golden else []
        if not golds:
            raise PubmillError(
                f"{test}: question {show(group)} has no factoid answer in {archive}; are both from the same "
                "year?"
            )
        if one.answers or question.is_impossible:
            raise PubmillError(
                f"{test}: question {show(group)} has answers of its own; the published file has none"
            )
        met.add(group)
        yield replace(one, document=None, answers=find(golds, one.context), group=group, golds=golds)
    if len(met) < len(golden):
        source.left_out["questions_without_context"] += len(golden) - len(met)


def _question_id(example: str, path: Path) -> str:
    matched = _OF_SNIPPET.fullmatch(example)
    if not matched:
        raise PubmillError(f"{path}: question {show(example)}: expected an id like QUESTION_000")
    return matched[1]


def find(golds: Sequence[str], context: str) -> list[Answer]:
    """Return the first occurrence of each gold in the context, in the golds' order and without repetitions.

    The comparison ignores case and the white space between words, but nothing else, and finds answers inside
    longer words. The answer's text is copied from the context.
    """
    places: dict[tuple[int, int], None] = {}
    for gold in golds:
        pattern = r"\s+".join(map(re.escape, gold.split()))
        if match := pattern and re.search(pattern, context, re.IGNORECASE):
            places[match.span()] = None
    return [Answer(text=context[start:end], start=start) for start, end in places]
