"""Routes for the facts that people assert, under `/api/v2`: each PUT or DELETE becomes an event (http-catalog.md)."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from whence.api.catalog.assertions import Asserted, Now, read, scribe_of
from whence.api.http.path_names import Plain, Segment
from whence.api.http.response_types import All, One
from whence.api.http.responses import MISSING, answer
from whence.api.requests.catalog import CatalogView, NewestView
from whence.errors import EventError, ThingNotFoundError
from whence.govern import assertions as say
from whence.govern.assertions import Certification, Subject
from whence.govern.rule_states.records import certifications_at
from whence.model.ids import node_id
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, Node, parse_node
from whence.openlineage.facets.facet_keys import TIER
from whence.query.rendering.catalog import facts_documents
from whence.query.rendering.catalog_documents import Facts

reads = APIRouter(prefix="/api/v2", tags=["facts"], responses=MISSING)
writes = APIRouter(
    prefix="/api/v2",
    tags=["facts"],
    responses={
        **MISSING,
        202: {"model": One[Facts], "description": "it is durable, and not yet in the store"},
        412: {"description": "what people say of it has changed since the ETag in `If-Match`"},
    },
)

MOST_AT_ONCE = 200
"""The most nodes in one request for facts."""

Change = Callable[[Subject, str, Mapping[str, Any]], Mapping[str, Any]]
"""Computes new facets from a dataset or job, its field (empty: itself), and its facets."""

Text = Annotated[str, AfterValidator(lambda text: text.replace("\0", "\ufffd")), Field(max_length=100_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TagValue(_Body):
    """The value of a tag."""

    value: Text = "true"


class Role(_Body):
    """The role of an owner: `OWNER`, `STEWARD` …"""

    role: Text = ""


class Description(_Body):
    """A description."""

    description: Text


class Tier(_Body):
    """How critical a dataset or job is; 1 is the most critical."""

    tier: Annotated[int, Field(ge=1, le=5)]


class Contract(_Body):
    """The version of the contract that a dataset complies with."""

    contract_version: Annotated[Text, Field(min_length=1)]


class ManualEdge(_Body):
    """A dependency that no job reports. Ends are node ids of datasets or fields; the source may be a job."""

    source: Text
    target: Text
    type: Literal["DIRECT", "INDIRECT"] = "DIRECT"
    subtype: Text = ""
    description: Text = ""
    masking: bool = False


class AliasCut(_Body):
    """Two names, as node ids, that do not belong to one dataset."""

    dataset: Text
    alias: Text


_YES, _NO_ROLE = TagValue(), Role()


@reads.get("/nodes/{node}/facts", response_model=One[Facts])
def get_facts(view: NewestView, node: Segment) -> Response:
    """Show what people assert of a dataset or job. A change with its ETag as `If-Match` fails if this changed (412)."""
    data = _facts(view, _subject(view, node)[0])
    return answer({"data": data, "page": None}, headers={"ETag": _tag(data)})


@reads.get("/facts", response_model=All[Facts])
def get_many_facts(
    view: NewestView, node: Annotated[list[Plain], Query(min_length=1, max_length=MOST_AT_ONCE)]
) -> Response:
    """Show what people assert of several datasets and jobs, in their order. Unknown nodes are left out."""
    names = [name for name in map(parse_node, node) if isinstance(name, DatasetName | JobName)]
    certified = certifications_at(view.whole)
    return answer({"data": facts_documents(view.catalog, view.graph, names, certified), "page": None})


@writes.put("/nodes/{node}/tags/{tag}", response_model=One[Facts])
async def put_tag(request: Request, node: Segment, tag: Segment, body: TagValue = _YES) -> Response:
    """Tag a dataset, job or field, or change the value of its tag."""
    return await _change(
        request, node, lambda one, field, now: {"tags": say.add_tag(one, now, tag, body.value, field)}, of_fields=True
    )


@writes.delete("/nodes/{node}/tags/{tag}", response_model=One[Facts])
async def delete_tag(request: Request, node: Segment, tag: Segment) -> Response:
    """Remove a tag from a dataset, job or field."""
    return await _change(
        request, node, lambda one, field, now: {"tags": say.remove_tag(one, now, tag, field)}, of_fields=True
    )


@writes.put("/nodes/{node}/owners/{owner}", response_model=One[Facts])
async def put_owner(request: Request, node: Segment, owner: Segment, body: Role = _NO_ROLE) -> Response:
    """Add an owner of a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"ownership": say.add_owner(one, now, owner, body.role)})


@writes.delete("/nodes/{node}/owners/{owner}", response_model=One[Facts])
async def delete_owner(request: Request, node: Segment, owner: Segment) -> Response:
    """Remove an owner of a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"ownership": say.remove_owner(one, now, owner)})


@writes.put("/nodes/{node}/description", response_model=One[Facts])
async def put_description(request: Request, node: Segment, body: Description) -> Response:
    """Describe a dataset or job."""
    return await _change(request, node, lambda one, *_: {"documentation": say.set_description(one, body.description)})


@writes.delete("/nodes/{node}/description", response_model=One[Facts])
async def delete_description(request: Request, node: Segment) -> Response:
    """Remove the description of a dataset or job."""
    return await _change(request, node, lambda one, *_: {"documentation": say.set_description(one, None)})


@writes.put("/nodes/{node}/certification/{level}", response_model=One[Facts])
async def put_certification(request: Request, node: Segment, level: Certification) -> Response:
    """Certify a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"tags": say.add_tag(one, now, level.value)})


@writes.delete("/nodes/{node}/certification/{level}", response_model=One[Facts])
async def delete_certification(request: Request, node: Segment, level: Certification) -> Response:
    """Withdraw a certification of a dataset or job."""
    return await _change(request, node, lambda one, _, now: {"tags": say.remove_tag(one, now, level.value)})


@writes.put("/nodes/{node}/tier", response_model=One[Facts])
async def put_tier(request: Request, node: Segment, body: Tier) -> Response:
    """Set how critical a dataset or job is."""
    return await _change(request, node, lambda *_: {TIER: say.set_tier(body.tier)})


@writes.delete("/nodes/{node}/tier", response_model=One[Facts])
async def delete_tier(request: Request, node: Segment) -> Response:
    """Remove the tier of a dataset or job."""
    return await _change(request, node, lambda *_: {TIER: say.set_tier(None)})


@writes.put("/nodes/{node}/contract", response_model=One[Facts])
async def put_contract(request: Request, node: Segment, body: Contract) -> Response:
    """Set the contract version that a dataset complies with."""
    return await _change(request, node, lambda one, *_: say.set_contract(_of_dataset(one, body.contract_version)))


@writes.delete("/nodes/{node}/contract", response_model=One[Facts])
async def delete_contract(request: Request, node: Segment) -> Response:
    """Remove the contract version of a dataset."""
    return await _change(request, node, lambda _, __, now: say.end_contract(now))


@writes.put("/edges", response_model=One[Facts])
async def put_edge(request: Request, body: ManualEdge) -> Response:
    """Assert an edge into a dataset or field by hand."""
    source, end, target = await read(request, lambda view: _ends(view, body.source, body.target))
    edge = Edge(
        source=source,
        target=end,
        type=body.type,
        subtype=body.subtype.upper(),
        masking=body.masking,
        description=body.description,
    )
    return await _connect(request, target, lambda now: {"lineage": say.add_edge(target, now.facets, edge)})


@writes.delete("/edges", response_model=One[Facts])
async def delete_edge(
    request: Request, source: Annotated[Plain, Query()], target: Annotated[Plain, Query()]
) -> Response:
    """Withdraw an edge that was asserted by hand. Edges that jobs report stay."""
    begin, end, whole = await read(request, lambda view: _ends(view, source, target))
    return await _connect(request, whole, lambda now: {"lineage": say.remove_edges(whole, now.facets, begin, end)})


@writes.put("/alias-cuts", response_model=One[Facts])
async def put_alias_cut(request: Request, body: AliasCut) -> Response:
    """Separate two names that a producer reports as aliases of one dataset."""
    return await _rename(request, body.dataset, body.alias, cut=True)


@writes.delete("/alias-cuts", response_model=One[Facts])
async def delete_alias_cut(
    request: Request, dataset: Annotated[Plain, Query()], alias: Annotated[Plain, Query()]
) -> Response:
    """Withdraw the separation of two names."""
    return await _rename(request, dataset, alias, cut=False)


async def _rename(request: Request, dataset: str, alias: str, *, cut: bool) -> Response:
    one, other = await read(request, lambda view: (_known(view, dataset), _known(view, alias)))
    if not isinstance(one, DatasetName) or not isinstance(other, DatasetName) or one == other:
        raise EventError("/alias", "two names of datasets are cut apart")
    asserted = await scribe_of(request).assert_facets(request, one, lambda _: say.assert_alias(other, cut=cut))
    return await _answer(request, one, asserted)


async def _change(request: Request, node: str, change: Change, *, of_fields: bool = False) -> Response:
    subject, field = await read(request, lambda view: _subject(view, node))
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
    data = await read(request, lambda view: _facts(view, subject))
    status = 200 if asserted.reached else 202
    return answer({"data": data, "page": None}, status, headers | {"ETag": _tag(data)})


def _check_unchanged(request: Request, now: Now, subject: Subject) -> None:
    """Raises EventError (412) if the facts differ from those that the caller has read."""
    expected = {one.strip() for one in request.headers.get("if-match", "").split(",") if one.strip()}
    if expected and "*" not in expected and _tag(_facts(now.view, subject)) not in expected:
        raise EventError("/header/If-Match", "somebody changed this since you read it: read it again", 412)


def _tag(facts: Mapping[str, Any]) -> str:
    """A tag that changes with the facts, but not when a run mentions the dataset or job."""
    asserted = {name: value for name, value in facts.items() if name not in ("first_seen", "last_seen")}
    return f'"{sha256(json.dumps(asserted, sort_keys=True).encode()).hexdigest()[:32]}"'


def _of_dataset(subject: Subject, version: str) -> str:
    if isinstance(subject, JobName):
        raise EventError("/path/node", "a dataset keeps a contract, not a job")
    return version


def _facts(view: CatalogView, subject: Subject) -> Facts:
    found = facts_documents(view.catalog, view.graph, [subject])
    if not found:
        raise ThingNotFoundError("Node", str(subject))
    return found[0]


def _subject(view: CatalogView, text: str) -> tuple[Subject, str]:
    """The dataset or job of a node id, and its field, if the id names one."""
    match _known(view, text):
        case FieldName(dataset, field):
            return dataset, field
        case (DatasetName() | JobName()) as subject:
            return subject, ""


def _known(view: CatalogView, text: str) -> Node:
    node = parse_node(text)
    if node is None or node_id(node) not in view.graph.nodes([node_id(node)]):
        raise ThingNotFoundError("Node", text)
    return node


def _ends(view: CatalogView, source: str, target: str) -> tuple[Node, DatasetName | FieldName, DatasetName]:
    """The two ends, and the dataset of the second."""
    begin, end = _known(view, source), _known(view, target)
    match end:
        case FieldName(dataset):
            return begin, end, dataset
        case DatasetName():
            return begin, end, end
        case JobName():
            raise EventError(
                "/target",
                "the target of a manual edge must be a dataset or field; the inputs of a job come from its own events",
            )
