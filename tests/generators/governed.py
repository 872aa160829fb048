"""Events that assert more than lineage, and senders who may assert some of it."""

import json

from hypothesis import strategies as st

from generators.arrivals import body
from generators.events import events
from generators.universe import Json, dataset_names, few, fields, optional
from whence.errors import EventError
from whence.model.access import Action, Grant, Role, Viewer
from whence.openlineage.accept import accept
from whence.openlineage.authority.restrictions import Authority

PERSON = "urn:whence:person:key%3Aadmin"
RESERVED = (
    {"namespace": "whence.catalog", "name": "namespace/warehouse"},
    {"namespace": "whence.catalog", "name": "source/postgres://db:5432"},
    {"namespace": "whence.catalog", "name": "tag/pii"},
    {"namespace": "whence.catalog", "name": "namespace"},
    {"namespace": "whence.other", "name": "x"},
)

tag = optional(
    {"key": st.sampled_from(["certified", "canonical", "pii", "certified ", None])},
    value=st.just("true"),
    source=st.sampled_from(["USER", "DBT", None]),
    field=fields,
)
tags = st.fixed_dictionaries({"tags": few(tag | st.none(), most=3) | st.none()})
renamed = st.fixed_dictionaries(
    {"lifecycleStateChange": st.sampled_from(["DROP", "RENAME"])}, optional={"previousIdentifier": dataset_names}
)
linked = st.builds(
    lambda name, kind: {"identifiers": [{**name, "type": kind}]},
    dataset_names | st.sampled_from(RESERVED),
    st.sampled_from(["TABLE", "whence:cut", "whence:joined"]),
)
governed_facets = st.fixed_dictionaries(
    {},
    optional={
        "tags": tags,
        "whence_tier": st.just({"tier": 1}) | st.just({"_deleted": True}),
        "whence_contract": st.just({"version": "9"}),
        "whence_lifecycle": st.just({"state": "DECOMMISSIONED"}),
        "whence_aliases": linked,
        "symlinks": linked,
        "ownership": st.just({"owners": [{"name": "mallory"}]}),
        "dataSource": st.just({"name": "db"}) | st.just({"_deleted": True}),
        "lifecycleStateChange": renamed,
        "lineage": st.just({"inputs": [{"namespace": "whence.other", "name": "x", "type": "DATASET"}]}),
        "columnLineage": st.just({"fields": {"id": {"inputFields": [{**one, "field": "id"} for one in RESERVED]}}}),
    },
)


@st.composite
def governed_events(draw: st.DrawFn) -> Json:
    """Events of which most assert something that takes a role."""
    event: Json = dict(draw(events))
    for role in ("inputs", "outputs"):
        if draw(st.booleans()) and isinstance(event.get(role), list):
            more = draw(few(st.sampled_from(RESERVED) | dataset_names, most=2))
            event[role] = [_with(one, draw(governed_facets)) for one in (*event[role], *more)]
    for place in ("job", "dataset"):
        if draw(st.booleans()) and isinstance(event.get(place), dict):
            event[place] = _with(event[place], draw(governed_facets))
    return event | ({"producer": PERSON} if draw(st.integers(0, 3)) == 0 else {})


def _with(entity: object, facets: Json) -> object:
    if not isinstance(entity, dict):
        return entity
    own = entity.get("facets")
    return {**entity, "facets": {**(own if isinstance(own, dict) else {}), **facets}}


grants = st.builds(
    Grant,
    st.sampled_from([Role.WRITER, Role.STEWARD, Role.ADMIN]),
    st.sampled_from(["*", "s3*", "postgres*", "airflow", "warehouse", "hive*", "whence.*", "file"]),
)
viewers = st.builds(
    lambda name, some: Viewer(name=name, grants=tuple(some)),
    st.sampled_from(["key:admin", "key:mallory"]),
    st.lists(grants, max_size=3),
)


def sent(event: Json, sender: Viewer) -> Json | None:
    """The event as the collector logs it when this sender sends it; None if they may not send it at all."""

    def may(action: Action, namespace: str) -> bool:
        return sender.is_allowed(action, namespace)

    authority = Authority(may, lambda producer, _: producer == PERSON and sender.name == "key:admin")
    try:
        accepted = accept(body(event), authority=authority)
    except EventError:
        return None
    logged: Json = json.loads(accepted.payload)
    return logged
