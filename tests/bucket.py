"""A mirror with a small, made-up copy of PMC's bucket."""

import gzip
import hashlib
import json
from pathlib import Path

from pubmill.corpus.pmc import INVENTORY, write_plan

HOST = "pmc-oa-opendata.s3.amazonaws.com"
URL = f"https://{HOST}"
DAY = "2026-09-02"


def xml(pmcid: int, text: str = "Text.") -> bytes:
    return (
        f"<article><front><article-meta><article-id pub-id-type='pmcid'>PMC{pmcid}</article-id>"
        f"</article-meta></front><body><p>{text}</p></body></article>"
    ).encode()


class Bucket:
    def __init__(self, folder: Path) -> None:
        self.mirror = folder / "mirror"
        self.root = self.mirror / HOST
        self.rows: dict[str, str] = {}

    def put(self, key: str, content: bytes) -> None:
        (self.root / key).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).write_bytes(content)
        etag = hashlib.md5(content).hexdigest()
        self.rows[key] = f'"pmc-oa-opendata","{key}","2026-08-31T23:00:00.000Z","{etag}"'

    def article(self, pmcid: int, version: int = 1, /, content: bytes = b"", **said: object) -> None:
        """Add an article, its XML and its JSON; `said` overrides fields of the JSON."""
        name, content = f"PMC{pmcid}.{version}", content or xml(pmcid)
        value = {
            "pmcid": f"PMC{pmcid}", "version": version, "is_manuscript": False, "is_historical_ocr": False,
            "is_retracted": False, "license_code": "CC BY",
            "xml_url": f"s3://pmc-oa-opendata/{name}/{name}.xml?md5={hashlib.md5(content).hexdigest()}",
        } | said  # fmt: skip
        self.put(f"{name}/{name}.xml", content)
        self.put(f"metadata/{name}.json", json.dumps(value).encode())

    def inventory(self, day: str = DAY, **wrong: str) -> None:
        """Write the inventory of a day; `wrong` overrides what the manifest says about the list."""
        packed = gzip.compress("\n".join(self.rows.values()).encode(), mtime=0)
        key = f"{INVENTORY}/data/{day}.csv.gz"
        (self.root / key).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).write_bytes(packed)
        file = {"key": key, "size": len(packed), "MD5checksum": hashlib.md5(packed).hexdigest()} | wrong
        manifest = {"fileFormat": "CSV", "fileSchema": "Bucket, Key, LastModifiedDate, ETag", "files": [file]}
        where = self.root / INVENTORY / f"{day}T01-00Z" / "manifest.json"
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(json.dumps(manifest))

    def plan(self, path: Path, **wrong: str) -> int:
        self.inventory(**wrong)
        return write_plan(path, URL, DAY, str(self.mirror))
