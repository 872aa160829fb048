"""What the transforms of a connector make of the name of a topic.

https://kafka.apache.org/documentation/#connect_transforms
"""

import re
from collections.abc import Mapping

_ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_KEEPING = frozenset(
    (
        *("Cast", "DropHeaders", "ExtractField", "Filter", "Flatten", "HeaderFrom", "HoistField", "InsertField"),
        *("InsertHeader", "MaskField", "ReplaceField", "SetSchemaMetadata", "TimestampConverter", "ValueToKey"),
    )
)
"""Transforms of Kafka that leave the topic alone."""
_KEEPING_OTHERS = frozenset(("io.debezium.transforms.ExtractNewRecordState",))
_KAFKA = "org.apache.kafka.connect.transforms."


def route_topic(settings: Mapping[str, str], topic: str) -> str | None:
    """The topic after all transforms; None if that is not known, as with a transform of somebody else.

    >>> kind = "org.apache.kafka.connect.transforms.RegexRouter"
    >>> router = {"transforms.r.type": kind, "transforms.r.regex": "(.*)", "transforms.r.replacement": "eu-$1"}
    >>> route_topic({"transforms": "r", **router}, "orders")
    'eu-orders'
    """
    for alias in (one.strip() for one in settings.get("transforms", "").split(",")):
        if not alias:
            continue
        routed = _apply(settings, f"transforms.{alias}", topic)
        if routed is None:
            return None
        topic = routed
    return topic


def _apply(settings: Mapping[str, str], prefix: str, topic: str) -> str | None:
    kind = settings.get(f"{prefix}.type", "")
    name = kind.removeprefix(_KAFKA).partition("$")[0]
    if (kind.startswith(_KAFKA) and name in _KEEPING) or kind in _KEEPING_OTHERS:
        return topic
    if kind != _ROUTER or f"{prefix}.predicate" in settings:
        return None  # unknown, or for some records only
    return _replace(settings.get(f"{prefix}.regex", ""), settings.get(f"{prefix}.replacement", ""), topic)


def _replace(pattern: str, replacement: str, topic: str) -> str | None:
    """As Java's `Matcher.matches` and `replaceFirst` do it; None for a pattern that only Java knows."""
    try:
        found = re.fullmatch(re.sub(r"\(\?<(?![=!])", "(?P<", pattern), topic)
        return found.expand(_groups(replacement)) if found else topic
    except (re.error, IndexError):
        return None


def _groups(replacement: str) -> str:
    """A replacement of Java as one of Python: `$1` and `${name}`, a backslash before what stands for itself."""
    parts = re.findall(r"\\.|\$\{\w+\}|\$\d|.", replacement, re.DOTALL)
    return "".join(map(_group, parts))


def _group(part: str) -> str:
    if part.startswith("$") and len(part) > 1:
        return f"\\g<{part.strip('${}')}>"
    character = part[-1]
    return "\\\\" if character == "\\" else character
