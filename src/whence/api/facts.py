"""What people say of things, under `/api/v2`: each PUT or DELETE becomes an event in the log (docs/catalog.md)."""

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whence.api.answers import MISSING, answer
from whence.api.asserting import Asserted, Now, read, scribe_of
from whence.api.cataloguing import Catalogued
from whence.api.paths import Plain, Segment
from whence.errors import EventError, ThingNotFoundError
from whence.govern import assertions as say
from whence.govern.assertions import Certification, Subject
from whence.model.ids import node_id
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.openlineage.facets import CONTRACT, TIER
from whence.query.catalog_document import facts_document
from whence.query.described import DescribedDataset, DescribedJob, describe_datasets, describe_jobs

reads = APIRouter(prefix="/api/v2", tags=["facts"], responses=MISSING)
writes = APIRouter(
    prefix="/api/v2",
    tags=["facts"],
    responses={
        **MISSING,
        202: {"description": "it is durable, and not yet in the store"},
        412: {"description": "what people say of it has changed since the ETag in `If-Match`"},
    },
)

MOST_AT_ONCE = 200
"""Nodes whose facts are asked for in one request."""

Change = Callable[[Subject, str, Mapping[str, Any]], Mapping[str, Any]]
"""From a thing, the field of it that is meant (empty: itself) and its facets to the facets that are new."""

Text = Annotated[str, AfterValidator(lambda text: text.replace("\0", "\ufffd")), Field(max_length=100_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TagValue(_Body):
    """What a tag says."""

    value: Text = "true"


class Role(_Body):
    """What an owner is to a thing: `OWNER`, `STEWARD` …"""

    role: Text = ""


class Description(_Body):
    """A description."""

    description: Text


class Tier(_Body):
    """How critical a thing is; 1 is the most."""

    tier: Annotated[int, Field(ge=1, le=5)]


class Contract(_Body):
    """The version of the contract that a dataset keeps."""

    contract_version: Annotated[Text, Field(min_length=1)]


class ManualEdge(_Body):
    """A dependency that no job told of. Ends are node ids of datasets or fields; the source may be a job."""

    source: Text
    target: Text
    type: Literal["DIRECT", "INDIRECT"] = "DIRECT"
    subtype: Text = ""
    description: Text = ""
    masking: bool = False


class AliasCut(_Body):
    """Two names, as node ids, that are not of one dataset."""

    dataset: Text
    alias: Text


_YES, _NO_ROLE = TagValue(), Role()


@reads.get("/nodes/{node}/facts")
async def get_facts(request: Request, node: Segment) -> Response:
    """What people say of a dataset or job. A change with its ETag as `If-Match` is refused if this changed (412)."""
    data = await read(request, lambda asked: _facts(asked, _subject(asked, node)[0]))
    return answer({"data": data, "page": None}, headers={"ETag": _tag(data)})


@reads.get("/facts")
async def get_many_facts(
    request: Request, node: Annotated[list[Plain], Query(min_length=1, max_length=MOST_AT_ONCE)]
) -> Response:
    """What people say of several datasets and jobs, in their order; what is not known is left out."""
    return answer({"data": await read(request, lambda asked: _facts_of(asked, node)), "page": None})


@writes.put("/nodes/{node}/tags/{tag}")
async def put_tag(request: Request, node: Segment, tag: Segment, body: TagValue = _YES) -> Response:
    """Tag a dataset, job or field, or say another value of its tag."""
    return await _change(
        request, node, lambda one, field, now: {"tags": say.tagged(one, now, tag, body.value, field)}, of_fields=True
    )


@writes.delete("/nodes/{node}/tags/{tag}")
async def delete_tag(request: Request, node: Segment, tag: Segment) -> Response:
    """Take a tag off."""
    return await _change(
        request, node, lambda one, field, now: {"tags": say.untagged(one, now, tag, field)}, of_fields=True
    )


@writes.put("/nodes/{node}/owners/{owner}")
async def put_owner(request: Request, node: Segment, owner: Segment, body: Role = _NO_ROLE) -> Response:
    """Say that somebody owns a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"ownership": say.owned(one, now, owner, body.role)})


@writes.delete("/nodes/{node}/owners/{owner}")
async def delete_owner(request: Request, node: Segment, owner: Segment) -> Response:
    """Say that somebody owns it no more."""
    return await _change(request, node, lambda one, _, now: {"ownership": say.disowned(one, now, owner)})


@writes.put("/nodes/{node}/description")
async def put_description(request: Request, node: Segment, body: Description) -> Response:
    """Describe a dataset or job."""
    return await _change(request, node, lambda one, *_: {"documentation": say.described(one, body.description)})


@writes.delete("/nodes/{node}/description")
async def delete_description(request: Request, node: Segment) -> Response:
    """Take its description away."""
    return await _change(request, node, lambda one, *_: {"documentation": say.described(one, None)})


@writes.put("/nodes/{node}/certification/{level}")
async def put_certification(request: Request, node: Segment, level: Certification) -> Response:
    """Vouch for a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"tags": say.tagged(one, now, level.value)})


@writes.delete("/nodes/{node}/certification/{level}")
async def delete_certification(request: Request, node: Segment, level: Certification) -> Response:
    """Vouch for it no more."""
    return await _change(request, node, lambda one, _, now: {"tags": say.untagged(one, now, level.value)})


@writes.put("/nodes/{node}/tier")
async def put_tier(request: Request, node: Segment, body: Tier) -> Response:
    """Say how critical a dataset or job is."""
    return await _change(request, node, lambda *_: {TIER: say.tiered(body.tier)})


@writes.delete("/nodes/{node}/tier")
async def delete_tier(request: Request, node: Segment) -> Response:
    """Say nothing of how critical it is."""
    return await _change(request, node, lambda *_: {TIER: say.tiered(None)})


@writes.put("/nodes/{node}/contract")
async def put_contract(request: Request, node: Segment, body: Contract) -> Response:
    """Say which version of its contract a dataset keeps."""
    return await _change(
        request, node, lambda one, *_: {CONTRACT: say.contracted(_of_dataset(one, body.contract_version))}
    )


@writes.delete("/nodes/{node}/contract")
async def delete_contract(request: Request, node: Segment) -> Response:
    """Say that it keeps none."""
    return await _change(request, node, lambda *_: {CONTRACT: say.contracted(None)})


@writes.put("/edges")
async def put_edge(request: Request, body: ManualEdge) -> Response:
    """Say that a dataset or field depends on another one, or on a job."""
    source, end, target = await read(request, lambda asked: _ends(asked, body.source, body.target))
    edge = Edge(
        source=source,
        target=end,
        type=body.type,
        subtype=body.subtype.upper(),
        masking=body.masking,
        description=body.description,
    )
    return await _connect(request, target, lambda now: {"lineage": say.joined(target, now.facets, edge)})


@writes.delete("/edges")
async def delete_edge(
    request: Request, source: Annotated[Plain, Query()], target: Annotated[Plain, Query()]
) -> Response:
    """Take back what was said of a dependency by hand. What jobs tell of stays."""
    begin, end, whole = await read(request, lambda asked: _ends(asked, source, target))
    return await _connect(request, whole, lambda now: {"lineage": say.parted(whole, now.facets, begin, end)})


@writes.put("/alias-cuts")
async def put_alias_cut(request: Request, body: AliasCut) -> Response:
    """Say that two names are not of one dataset, though a producer says so."""
    return await _rename(request, body.dataset, body.alias, cut=True)


@writes.delete("/alias-cuts")
async def delete_alias_cut(
    request: Request, dataset: Annotated[Plain, Query()], alias: Annotated[Plain, Query()]
) -> Response:
    """Take that back."""
    return await _rename(request, dataset, alias, cut=False)


async def _rename(request: Request, dataset: str, alias: str, *, cut: bool) -> Response:
    one, other = await read(request, lambda asked: (_known(asked, dataset), _known(asked, alias)))
    if not isinstance(one, DatasetName) or not isinstance(other, DatasetName) or one == other:
        raise EventError("/alias", "two names of datasets are cut apart")
    asserted = await scribe_of(request).assert_facets(request, one, lambda _: say.renamed(other, cut=cut))
    return await _answer(request, one, asserted)


async def _change(request: Request, node: str, change: Change, *, of_fields: bool = False) -> Response:
    subject, field = await read(request, lambda asked: _subject(asked, node))
    if field and not of_fields:
        raise EventError("/path/node", "this is said of datasets and jobs, not of fields")

    def changed(now: Now) -> Mapping[str, Any]:
        _check_unchanged(request, now, subject)
        return change(subject, field, now.facets)

    asserted = await scribe_of(request).assert_facets(request, subject, changed)
    return await _answer(request, subject, asserted)


async def _connect(request: Request, target: DatasetName, change: Callable[[Now], Mapping[str, Any]]) -> Response:
    asserted = await scribe_of(request).assert_facets(request, target, change)
    return await _answer(request, target, asserted)


async def _answer(request: Request, subject: Subject, asserted: Asserted) -> Response:
    headers = {"Whence-Position": ",".join(str(one) for one in asserted.positions)}
    if not asserted.reached:
        return answer({"data": {"node": str(subject)}, "page": None}, 202, headers)
    data = await read(request, lambda asked: _facts(asked, subject))
    return answer({"data": data, "page": None}, 200, headers | {"ETag": _tag(data)})


def _check_unchanged(request: Request, now: Now, subject: Subject) -> None:
    """Raises EventError (412) if what people say of a thing is not what the caller has read."""
    expected = {one.strip() for one in request.headers.get("if-match", "").split(",") if one.strip()}
    if expected and "*" not in expected and _tag(_facts(now.asked, subject)) not in expected:
        raise EventError("/header/If-Match", "somebody changed this since you read it: read it again", 412)


def _tag(facts: Mapping[str, Any]) -> str:
    """Changes when what people say does, and not when a run mentions the thing."""
    said = {name: value for name, value in facts.items() if name not in ("first_seen", "last_seen")}
    return f'"{sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]}"'


def _facts_of(asked: Catalogued, nodes: Sequence[str]) -> list[dict[str, Any]]:
    names = [name for name in map(parse_node, nodes) if isinstance(name, DatasetName | JobName)]
    entries = asked.catalog.entries([node_id(one) for one in names]).values()
    datasets = [one for one in entries if isinstance(one.name, DatasetName)]
    jobs = [one for one in entries if isinstance(one.name, JobName)]
    described: Sequence[DescribedDataset | DescribedJob] = (
        *describe_datasets(asked.catalog, asked.graph, datasets, columns=False),
        *describe_jobs(asked.catalog, asked.graph, jobs, runs=0),
    )
    documents = {one["node"]: one for one in map(facts_document, described)}
    return [documents[one] for one in dict.fromkeys(map(str, names)) if one in documents]


def _of_dataset(subject: Subject, version: str) -> str:
    if isinstance(subject, JobName):
        raise EventError("/path/node", "a dataset keeps a contract, not a job")
    return version


def _facts(asked: Catalogued, subject: Subject) -> dict[str, Any]:
    entries = list(asked.catalog.entries([node_id(subject)]).values())
    if not entries:
        raise ThingNotFoundError("Node", str(subject))
    if isinstance(subject, DatasetName):
        return facts_document(describe_datasets(asked.catalog, asked.graph, entries, columns=False)[0])
    return facts_document(describe_jobs(asked.catalog, asked.graph, entries, runs=0)[0])


def _subject(asked: Catalogued, text: str) -> tuple[Subject, str]:
    """The dataset or job that a node id names, and the field of it, if it names one."""
    match _known(asked, text):
        case FieldName(dataset, field):
            return dataset, field
        case (DatasetName() | JobName()) as subject:
            return subject, ""


def _known(asked: Catalogued, text: str) -> Node:
    node = parse_node(text)
    if node is None or node_id(node) not in asked.graph.nodes([node_id(node)]):
        raise ThingNotFoundError("Node", text)
    return node


def _ends(asked: Catalogued, source: str, target: str) -> tuple[Node, DatasetName | FieldName, DatasetName]:
    """The two ends, and the dataset that the second is, or is of."""
    begin, end = _known(asked, source), _known(asked, target)
    match end:
        case FieldName(dataset):
            return begin, end, dataset
        case DatasetName():
            return begin, end, end
        case JobName():
            raise EventError(
                "/target", "a manual edge leads to a dataset or field; what a job reads, its own events say"
            )
