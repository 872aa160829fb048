"""Names of topics behind transforms, as the documentation of Kafka's transforms has them."""

import pytest

from whence.capture.kafka_connect.routing import route_topic

ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"


def routers(*pairs: tuple[str, str]) -> dict[str, str]:
    settings = {"transforms": ",".join(f"r{number}" for number, _ in enumerate(pairs))}
    for number, (regex, replacement) in enumerate(pairs):
        prefix = f"transforms.r{number}"
        settings |= {f"{prefix}.type": ROUTER, f"{prefix}.regex": regex, f"{prefix}.replacement": replacement}
    return settings


@pytest.mark.parametrize(
    ("regex", "replacement", "topic", "expected"),
    [
        ("(.*)", "$1-v1", "orders", "orders-v1"),
        (r"db\.(\w+)\.(\w+)", "$2_$1", "db.shop.orders", "orders_shop"),
        ("orders", "sales", "all-orders", "all-orders"),  # the whole name must match
        ("(?<table>.*)", "x-${table}", "orders", "x-orders"),
        ("(?<!a)b", "c", "b", "c"),
        ("(.*)", r"\$1", "orders", "$1"),
        ("(.*)", r"a\\b", "orders", r"a\b"),
        ("(.*)", "$9", "orders", None),
        ("(", "x", "orders", None),
    ],
)
def test_a_router_replaces_as_java_does(regex: str, replacement: str, topic: str, expected: str | None) -> None:
    assert route_topic(routers((regex, replacement)), topic) == expected


def test_transforms_apply_one_after_the_other() -> None:
    assert route_topic(routers(("(.*)", "a-$1"), ("a-(.*)", "b-$1")), "orders") == "b-orders"


def test_transforms_of_fields_leave_the_topic_alone() -> None:
    kind = "org.apache.kafka.connect.transforms.ReplaceField$Value"
    assert route_topic({"transforms": " drop ", "transforms.drop.type": kind}, "orders") == "orders"
    assert route_topic({}, "orders") == "orders"


@pytest.mark.parametrize("kind", ["com.shop.Renames", "org.apache.kafka.connect.transforms.TimestampRouter"])
def test_what_a_transform_makes_is_not_guessed(kind: str) -> None:
    assert route_topic({"transforms": "one", "transforms.one.type": kind}, "orders") is None


def test_a_router_for_some_records_is_not_followed() -> None:
    assert route_topic({**routers(("(.*)", "x")), "transforms.r0.predicate": "isTombstone"}, "orders") is None
