"""`whence alert test --retrain`: a trigger of retraining that nobody has."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from whence.errors import DeliveryError
from whence.govern.notifications.adapters import webhook
from whence.govern.notifications.adapters.http import Http
from whence.govern.notifications.messages import find_retrainings
from whence.govern.notifications.receivers import Receiver, Receivers, WebhookReceiver
from whence.govern.notifications.rendering.retraining import retrain_document
from whence.govern.retraining.triggers import RetrainTrigger, TriggerKind
from whence.model.names import DatasetName

_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainTrial:
    """A model by its name, of which a column upstream changed its type. Each trial is another cause."""

    namespace: str
    model: str

    def trigger(self, now: int) -> RetrainTrigger:
        """The trigger at a time (µs)."""
        return RetrainTrigger(
            model=DatasetName(self.namespace, self.model),
            kind=TriggerKind.SCHEMA,
            cause=f"test {now}",
            dataset=DatasetName(self.namespace, "shop.orders"),
            column="amount",
            text="This is a test: column amount changed from int to varchar",
            since=now - 12 * _MINUTE,
            distance=2,
        )

    def receivers_of(self, found: Receivers, now: int) -> Sequence[Receiver]:
        """Who is notified of it."""
        return [receiver for receiver, _ in find_retrainings(found, [self.trigger(now)])]

    def render(self, receiver: Receiver, now: int, _base: str) -> str:
        """What a receiver gets."""
        return msgspec.json.format(self._content(receiver, now)).decode() + "\n"

    def send(self, http: Http, receiver: Receiver, now: int, _base: str) -> None:
        """Send it. Raises DeliveryError."""
        if not isinstance(receiver.target, WebhookReceiver):
            raise DeliveryError(receiver.name, "only webhooks get triggers of retraining")
        webhook.post(http, receiver.target, self.trigger(now).key, self._content(receiver, now))

    def _content(self, receiver: Receiver, now: int) -> bytes:
        return msgspec.json.encode(retrain_document(self.trigger(now), receiver))
