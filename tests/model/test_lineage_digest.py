"""A lineage set's content address: as docs/explanation/state.md writes it, and different wherever content differs."""

from dataclasses import replace
from hashlib import sha256

from whence.model.lineage import Edge, Level, LineageSet, Origin, hash_lineage_set
from whence.model.names import DatasetName, FieldName, JobName

OWNER = JobName("n", "j")
A, OUT = DatasetName("n", "a"), DatasetName("n", "o:é")
EDGE = Edge(
    source=FieldName(A, "k"),
    target=FieldName(OUT, "x"),
    type="DIRECT",
    subtype="IDENTITY",
    masking=True,
    description="d",
)
SET = LineageSet(output=OUT, level=Level.FIELD, origin=Origin.COLUMN, edges=(EDGE,))


def test_digest_is_the_documented_hash() -> None:
    text = (
        "7:job:n:j"
        "15:dataset:n:o%3Aé"
        "5:field"
        "13:columnLineage"
        "18:datasetField:n:a:k"
        "22:datasetField:n:o%3Aé:x"
        "6:DIRECT"
        "8:IDENTITY"
        "6:masked"
        "1:d"
    )
    assert hash_lineage_set(OWNER, SET) == sha256(text.encode()).hexdigest()[:32]


def test_digest_differs_wherever_content_differs() -> None:
    sets = [
        SET,
        replace(SET, output=None),
        replace(SET, output=A),
        replace(SET, level=Level.DATASET),
        replace(SET, origin=Origin.EXPLICIT),
        replace(SET, edges=()),
        replace(SET, edges=(EDGE, EDGE)),
        replace(SET, edges=(replace(EDGE, source=A),)),
        replace(SET, edges=(replace(EDGE, target=OUT),)),
        replace(SET, edges=(replace(EDGE, type="X"),)),
        replace(SET, edges=(replace(EDGE, subtype=""),)),
        replace(SET, edges=(replace(EDGE, masking=False),)),
        replace(SET, edges=(replace(EDGE, description=""),)),
    ]
    assert (
        len({hash_lineage_set(OWNER, one) for one in sets} | {hash_lineage_set(JobName("n", "k"), SET)})
        == len(sets) + 1
    )
