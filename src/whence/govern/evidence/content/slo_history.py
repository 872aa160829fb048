"""`slos.json` of a pack: the objectives of its datasets, what they say at a time, and how that changed."""

from collections.abc import Collection, Iterator
from typing import Any

from whence.govern.evidence.content.sources import Sources
from whence.govern.slos.declared import evaluate_declared
from whence.govern.slos.documents import slo_row, transition_row
from whence.govern.slos.records import Declaration, list_declarations, list_transitions
from whence.model.names import DatasetName
from whence.query.answers.instants import iso

Json = dict[str, Any]


def slo_documents(sources: Sources, datasets: Collection[DatasetName], at: int) -> Iterator[Json]:
    """The objectives until a time (µs), also those that were ended: by dataset and id, with all their transitions.

    They are evaluated by everything that is in the store, and shown as far as the viewer may see them.
    """
    shown = list_declarations(sources.catalog, at)
    whole = {id_: some for id_, some in list_declarations(sources.whole, at).items() if id_ in shown}
    last = [some[-1] for some in whole.values() if some[-1].dataset in datasets]
    for one in evaluate_declared(sources.whole, sources.whole_graph, last, at):
        yield {
            "slo": {**slo_row(one, is_whole=sources.is_whole)},
            "declared": [_declaration(each, sources) for each in whole[one.declaration.id]],
            "transitions": [
                {**transition_row(each)} for each in list_transitions(sources.catalog, one.declaration.id, at)
            ],
        }


def _declaration(one: Declaration, sources: Sources) -> Json:
    return {
        "time": iso(one.time),
        "version": "" if one.record.ended else one.version,
        "ended": one.record.ended,
        "text": one.record.text or None if sources.is_whole else None,
    }
