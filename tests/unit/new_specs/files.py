"""Small files of the forms that `pubmill new dataset` finds."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CONLL = "Mice\tB-Species\nran\tO\n.\tO\n\nNo\tO\nHela\tB-Cell\ncells\tI-Cell\n\n"
TABLE = (
    "sentence\tid\tgold\nThe gene A binds B.\ta1\tyes\nAll of it was lost.\ta2\tno\nC binds D.\ta3\tyes\n"
    "E.\ta4\tno\n"
)
CONLLU = (
    "# newdoc id = d1\n# text = Don't take aspirin\n1-2\tDon't\t_\t_\n1\tDo\t_\tO\n2\tn't\t_\tO\n"
    "3\ttake\t_\tO\n3.1\t_\t_\t_\n4\taspirin\t_\tB-Drug\n\n# newdoc id = d2\n1\tRest\t_\tO\n\n"
)
RCT = "###11\nAIM\tWe test.\nRESULT\tIt works.\n\n###12\nAIM\tWe try.\nRESULT\tIt fails.\n\n"
PUBTATOR = (
    "1|t|Aspirin harms.\n1|a|It causes renal or liver failure. Mice died.\n1\t0\t7\tAspirin\tChemical\tD1\n"
    "1\t25\t47\trenal or liver failure\tDisease\tD2|D3\n1\t34\t47\tliver failure\tDisease\tD3\n"
    "1\tCID\tD1\tD2\n\n"
)
BIOC = {
    "documents": [{"id": "1", "passages": [{
        "offset": 0, "text": "Aspirin harms mice.",
        "annotations": [
            {"id": name, "infons": {"type": kind}, "text": text,
             "locations": [{"offset": start, "length": len(text)}]}
            for name, kind, text, start in (("T1", "Chemical", "Aspirin", 0), ("T2", "Species", "mice", 14))
        ],
        "relations": [{"id": "R1", "infons": {"type": "harms"},
                       "nodes": [{"refid": "T1", "role": "a"}, {"refid": "T2", "role": "b"}]}],
    }]}]
}  # fmt: skip
BRAT = {
    "a.txt": "Fever and chest pain.\nNone seen.\n",
    "a.ann": "T1\tSign 0 5\tFever\nT2\tSign 0 5;16 20\tFever pain\nT3\tSite 10 15\tchest\n"
    "R1\tAt Arg1:T1 Arg2:T3\nE1\tOnset:T1 Of:T3\n#1\tNote T1\tunclear\n",
}
WORDS = {"tokenized_text": ["Aspirin", "harms", "mice", "."], "ner": [[0, 0, "Drug"], [2, 2, "Species"]]}
MARKED: list[dict[str, Any]] = [
    {"text": f"The << drug {n} >> harms [[ mice ]] now.", "label": ("FALSE", "HARMS")[n % 2], "metadata": []}
    for n in range(4)
]
SQUAD = json.dumps(
    {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "Mice ran.", "qas": [
        {"id": "q1", "question": "Who?", "answers": [{"text": "Mice", "answer_start": 0}]}]}]}]}
)  # fmt: skip
XML = (
    "<Pairs>" + "".join(
        f'<Pair n="{n}"><Question qtype="{"ab"[n % 2]}">What is {n}?</Question>'
        f"<Answer>It is {n}.</Answer></Pair>"
        for n in range(4)
    ) + "</Pairs>"
)  # fmt: skip
QUESTIONS = {
    "questions": [
        {
            "id": f"q{kind}", "type": kind, "body": "Which drugs?", "exact_answer": answer,
            "snippets": [{"text": "Aspirin and heparin.", "document": "http://x/pubmed/12"}],
        }
        for kind, answer in (("list", [["aspirin"], ["heparin"]]), ("factoid", ["aspirin"]))
    ]
}  # fmt: skip
LETTERS = "ABCD"
TEXTS = ["aspirin", "heparin", "rest", "none of these"]
CHOICES = dict(zip(LETTERS, TEXTS, strict=True))
Rows = list[dict[str, Any]]


def lines(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


LINES = lines({"pmid": 10 + n, "abstract": f"Text {n} on mice.", "class": "ab"[n % 2]} for n in range(6))


def labelled(number: int, **keys: Sequence[Any]) -> Rows:
    """Return texts with two labels in turn, and with further keys whose values repeat."""
    keys = {"label": "ab", **keys}
    return [
        {"text": f"It is {n}."} | {key: values[n % len(values)] for key, values in keys.items()}
        for n in range(number)
    ]


def asked(**keys: Sequence[Any]) -> Rows:
    """Return eight questions with further keys, whose values repeat."""
    return [
        {"question": f"What helps patient {n}?"}
        | {key: values[n % len(values)] for key, values in keys.items()}
        for n in range(8)
    ]
