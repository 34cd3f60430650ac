"""Annotators whose models follow a rule, and made-up documents in PubTator and in both forms of BioC."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pubmill.examples.kinds import KINDS
from pubmill.finetuning.inputs import Encoded, EncodedSplit
from pubmill.prediction.annotated_files import annotate_file
from pubmill.prediction.annotating import Annotator


def fake(
    task: str, rule: Callable[[Any], Any], negative: str | None = None, labels: Sequence[str] = ("no", "yes")
) -> Any:
    recipe = SimpleNamespace(task=task, negative=negative)
    encode = SimpleNamespace(
        recipe=recipe, kind=KINDS[task], labels=list(labels),
        encode_split=lambda examples: EncodedSplit(
            examples=examples, encoded=Encoded(instances=[], counts={"windows_split": len(examples)}),
            targets=[],
        ),
        row=lambda example, predicted: {"id": example.id, "predicted": predicted},
    )  # fmt: skip
    predict = lambda split: [rule(example) for example in split.examples]  # noqa: E731
    predict_with_confidences = lambda split: [(rule(one), sure(one)) for one in split.examples]  # noqa: E731
    return SimpleNamespace(
        recipe=recipe, task=encode, predict=predict, predict_with_confidences=predict_with_confidences
    )


def sure(example: Any) -> Any:
    """Nine tenths for the first word, a little less for each of the next; seven tenths for a whole text."""
    return 0.7 if not hasattr(example, "words") else [0.9 - place / 9 for place in range(len(example.words))]


def capitals(example: Any) -> list[str]:
    """Words with a first capital are mentions; directly after another, the same one."""
    labels = ["O"]
    for word in example.words:
        capital = word[0].isupper()
        labels.append("O" if not capital else "I-Name" if labels[-1] != "O" else "B-Name")
    return labels[1:]


def tagger() -> Annotator:
    return Annotator(fake("tokens", capitals, labels=["B-Name", "I-Name", "O"]), [], None)


def between(example: Any) -> str:
    first, second = example.entities
    assert example.text[first.start : first.end] and example.text[second.start : second.end]
    return "binds" if "binds" in example.text else "no"


def relater() -> Annotator:
    predictor = fake("sequence", between, "no", ["binds", "no"])
    return Annotator(predictor, [["drug", "gene"], ["drug", "drug"]], None)


def annotated(annotator: Annotator, folder: Path, form: str, content: str) -> str:
    source, target = folder / "in", folder / "out"
    source.write_bytes(content.encode())
    annotate_file(annotator, source, target, form)
    return target.read_bytes().decode()


def counted(annotator: Annotator) -> list[int]:
    return [
        annotator.counts[f"{what}_{fate}"]
        for what in ("mentions", "relations")
        for fate in ("replaced", "kept")
    ]


PUBTATOR = (
    "12|t|Ann sees\n12|a|é then Bob. binds gene\n12\t0\t3\tAnn\tdrug\tD1\n12\t16\t19\tBob\tdrug\tD2\n"
    "12\t27\t31\tgene\tgene\tG1\n12\tCID\tD1\tG1\n\n\n13|t|Eve\n13|a|\n"
)


def bioc(sentences: bool = False) -> dict[str, Any]:
    """Two passages; the second one begins at character 10, its mentions are of three types."""
    text = "a drug binds a gene"
    mentions = [
        {"id": "1", "infons": {"type": "gene"}, "text": "gene", "locations": [{"offset": 25, "length": 4}]},
        {"id": "2", "infons": {"type": "drug"}, "text": "drug", "locations": [{"offset": 12, "length": 4}]},
        {"id": "3", "infons": {"type": "other"}, "text": "binds", "locations": [{"offset": 17, "length": 5}]},
    ]
    holder = {"offset": 10, "text": text, "annotations": mentions, "relations": [{"id": "old", "nodes": []}]}
    passages = [{"infons": {"type": "title"}, "offset": 0, "text": "Of, Ann"}]
    passages.append({"offset": 10, "sentences": [holder]} if sentences else holder)
    return {"source": "us", "date": "", "key": "k", "documents": [{"id": "7", "passages": passages}]}


XML = """<?xml version='1.0' encoding='UTF-8'?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>us</source><date/><key>k</key><infon key="a">&lt;b&gt;</infon>
<document><id>7</id>
<passage><infon key="type">title</infon><offset>0</offset><text>Of, Ann &amp; é</text></passage>
<passage><offset>12</offset><text>a drug binds a gene</text>
<annotation id="2"><infon key="type">drug</infon>
<location offset="14" length="4"/><text>drug</text></annotation>
<annotation id="1"><infon key="type">gene</infon>
<location offset="27" length="4"/><text>gene</text></annotation>
<relation id="old"><infon key="type">x</infon><node refid="1" role="r"/></relation>
</passage></document></collection>
"""
