"""Made-up documents in PubTator and in both forms of BioC."""

from typing import Any

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
