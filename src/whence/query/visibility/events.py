"""Events that one viewer may read: who reported what and when, with pseudonyms; facets only with a known structure."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from whence.model.ids import node_id
from whence.model.names import DatasetName, JobName
from whence.openlineage.names.entity_names import read_dataset_name
from whence.query.visibility.facets import SHOWN_OF_RUNS, Show, shown_facet, shown_schema
from whence.query.visibility.visible_ids import VisibleIds

_HEAD = ("eventTime", "eventType", "producer", "schemaURL")
Json = dict[str, Any]


def shown_event(visible_ids: VisibleIds, payload: bytes) -> bytes:
    """The JSON of an accepted event about a visible entry, without anything that is not known to be harmless."""
    event = json.loads(payload)
    shown: Json = {key: event[key] for key in _HEAD if isinstance(event.get(key), str)}
    if isinstance(run := event.get("run"), dict):
        shown["run"] = {"runId": run.get("runId"), "facets": _chosen(run, SHOWN_OF_RUNS)}
    if isinstance(job := event.get("job"), dict):
        shown["job"] = _job(visible_ids, job)
    if isinstance(dataset := event.get("dataset"), dict):
        shown["dataset"] = _dataset(visible_ids, dataset, "")
    producer = str(shown.get("producer", ""))
    for side in ("inputs", "outputs"):
        if isinstance(some := event.get(side), list):
            shown[side] = [_dataset(visible_ids, one, producer) for one in some if isinstance(one, dict)]
    return json.dumps(shown, ensure_ascii=False).encode()


def _job(visible_ids: VisibleIds, job: Json) -> Json:
    name = JobName(*_name(job))
    known = visible_ids.pseudonyms.job(name)
    facets = _facets(job, str) if known == name else {}
    return {"namespace": known.namespace, "name": known.name, "facets": facets}


def _dataset(visible_ids: VisibleIds, dataset: Json, producer: str) -> Json:
    sent = DatasetName(*_name(dataset))
    name = read_dataset_name(dataset, "", producer) or sent
    known = visible_ids.pseudonyms.dataset(name)
    if known != name or not visible_ids.pseudonyms.viewer.can_see(sent):
        known = known if known != name else visible_ids.pseudonyms.dataset(sent)
        return {"namespace": known.namespace, "name": known.name, "facets": {}}
    visible_ids.meet([id_ := node_id(name)])
    show = (
        partial(visible_ids.field, id_) if id_ in visible_ids.groups else partial(visible_ids.pseudonyms.field, (name,))
    )
    return {"namespace": sent.namespace, "name": sent.name, "facets": _facets(dataset, show)}


def _name(one: Json) -> tuple[str, str]:
    namespace, name = one.get("namespace"), one.get("name")
    return namespace if isinstance(namespace, str) else "", name if isinstance(name, str) else ""


def _facets(one: Json, show: Show) -> Json:
    found: Json = {}
    for name, facet in _objects(one).items():
        text = json.dumps(facet)
        shown = shown_schema(text, show) if name == "schema" else shown_facet(name, text, show)
        if shown is not None:
            found[name] = json.loads(shown)
    return found


def _chosen(one: Json, names: frozenset[str]) -> Json:
    return {name: facet for name, facet in _objects(one).items() if name in names}


def _objects(one: Json) -> Mapping[str, Json]:
    facets = one.get("facets")
    return (
        {name: facet for name, facet in facets.items() if isinstance(facet, dict)} if isinstance(facets, dict) else {}
    )
