"""The `retrain` of `receivers.yaml`: who learns that a model may have to be trained again, and why."""

from collections.abc import Mapping

from whence.govern.notifications.receivers import Receiver, WebhookReceiver
from whence.govern.retraining.triggers import RetrainRoute, TriggerKind
from whence.govern.yaml_nodes import Node, read_members


def read_retrain_routes(node: Node, receivers: Mapping[str, Receiver]) -> tuple[RetrainRoute, ...]:
    """Read the routes of triggers to webhooks of the file, by name. Raises RulesFileError."""
    return tuple(_route(one, receivers) for one in node.list())


def _route(node: Node, receivers: Mapping[str, Receiver]) -> RetrainRoute:
    readers = {"receiver": lambda one: _names(one, receivers), "models": _patterns, "on": _kinds}
    stated = read_members(node, readers, ("receiver", "models"))
    kinds = stated.get("on", tuple(TriggerKind))
    return RetrainRoute(receivers=stated["receiver"], models=stated["models"], kinds=kinds)


def _items(node: Node) -> tuple[Node, ...]:
    items = node.list() if node.is_list() else (node,)
    if not items:
        raise node.mistake("write at least one value")
    return items


def _patterns(node: Node) -> tuple[str, ...]:
    return tuple(one.filled() for one in _items(node))


def _kinds(node: Node) -> tuple[TriggerKind, ...]:
    items = _items(node)
    for one in items:
        if one.string() not in tuple(TriggerKind):
            raise one.mistake(f"write one of {', '.join(TriggerKind)}")
    return tuple(TriggerKind(one.string()) for one in items)


def _names(node: Node, receivers: Mapping[str, Receiver]) -> tuple[str, ...]:
    items = _items(node)
    for item in items:
        name = item.filled()
        if name not in receivers:
            raise item.mistake(f"no receiver is named {name!r}; the file has {', '.join(sorted(receivers)) or 'none'}")
        if not isinstance(receivers[name].target, WebhookReceiver):
            raise item.mistake(f"{name!r} gets no triggers: name receivers that are webhooks")
    return tuple(item.filled() for item in items)
