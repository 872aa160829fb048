"""Events with statements and code in their facets, and what of a store is legible without its key."""

import json
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select, text

from whence.store.engine import reading
from whence.store.packed import unpack_facets
from whence.store.tables import metadata, run_facets

SECRETS = ("zebra_price * 4711", "def quagga():", "okapi_model", "SELECT gnu FROM", "kudu * 0.19")
"""Parts of statements and of code: in the facets sql, sourceCode and one of a tool, in the error of a run, and in the
expression of a column.
"""

RUN = "01890000-0000-7000-8000-00000000000{}"
PRODUCER = "https://example.org/tool"


def said(**members: Any) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": "https://example.org/facet.json", **members}


def body(number: int) -> bytes:
    """The end of a run whose facets have the secrets."""
    facets = {
        "sql": said(query=f"insert into b select {SECRETS[0]} + {number} from a", dialect="postgres"),
        "sourceCode": said(language="python", sourceCode=f"{SECRETS[1]}\n    return {number}"),
        "tool": said(models=[{"raw_sql": f"select * from {SECRETS[2]}"}]),
        "documentation": said(description="prices of animals"),
        "ownership": said(owners=[{"name": "ada"}]),
    }
    failed = said(message=f"syntax error in {SECRETS[3]}", programmingLanguage="SQL")
    event = {
        "eventType": "FAIL",
        "eventTime": f"2026-01-0{number}T00:00:00Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN.format(number), "facets": {"errorMessage": failed}},
        "job": {"namespace": "shop", "name": f"load{number % 2}", "facets": facets},
        "inputs": [{"namespace": "db", "name": "a"}],
        "outputs": [{"namespace": "db", "name": "b"}, {"namespace": "db", "name": "c", "facets": _columns(SECRETS[4])}],
    }
    return json.dumps(event).encode()


def _columns(expression: str) -> dict[str, Any]:
    how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": expression, "masking": False}
    source = {"namespace": "db", "name": "a", "field": "x", "transformations": [how]}
    return {"columnLineage": said(fields={"y": {"inputFields": [source]}})}


BODIES = [body(number) for number in range(1, 6)]


def legible(engine: Engine) -> bytes:
    """All that can be read in the store without its key: each value, packs unpacked, and the files of SQLite."""
    found = []
    with reading(engine) as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(text(f'SELECT * FROM "{table.name}"')):
                found += [value if isinstance(value, bytes) else str(value).encode() for value in row]
        packs = connection.execute(select(run_facets.c.content)).scalars()
        found += [repr(unpack_facets(pack)).encode() for pack in packs if pack.startswith(b"1")]
    if engine.dialect.name == "sqlite":
        file = Path(str(engine.url.database))
        found += [one.read_bytes() for one in file.parent.glob(f"{file.name}*")]
    return b"\n".join(found)
