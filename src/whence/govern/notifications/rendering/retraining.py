"""The body of the webhook that says that a model may have to be trained again."""

from typing import Any

from whence.govern.notifications.receivers import Receiver
from whence.govern.retraining.triggers import RetrainTrigger
from whence.model.names import FieldName
from whence.query.answers.instants import iso

Json = dict[str, Any]


def retrain_document(one: RetrainTrigger, receiver: Receiver) -> Json:
    """The trigger, as a receiver may read it: who does not see the cause gets its kind alone, and free texts are for
    those who see everything.
    """
    viewer = receiver.viewer
    sees, is_whole = viewer.can_see(one.dataset), viewer.can_see_all
    sees_column = bool(one.column) and sees and viewer.can_see(FieldName(one.dataset, one.column))
    return {
        "type": "model.retrain",
        "timestamp": iso(one.since),
        "data": {
            "id": one.key,
            "model": str(one.model),
            "cause": str(one.kind),
            "since": iso(one.since),
            "dataset": str(one.dataset) if sees else None,
            "column": one.column if sees_column else None,
            "distance": one.distance,
            "rule": (one.rule or None) if is_whole else None,
            "text": (one.text or None) if is_whole else None,
            "incident": one.incident or None,
        },
    }
