"""Short labels: what stands side by side is told apart, however long and alike the names are."""

import random

from ui.browser.modules import call_each
from ui.stories.datasets import ENVIRONMENTS, LONG_TWINS

MOST = 16
PARTS = (
    "analytics",
    "platform",
    "prod",
    "staging",
    "dev",
    "eu-west-1",
    "rds",
    "example.com:5432",
    "x" * 30,
    "é💥",
    "\u202e",
)


def _texts(seed: int) -> list[str]:
    """Namespaces that share beginnings and ends, short ones and equal ones among them."""
    rng = random.Random(seed)
    count = rng.randrange(1, 14)
    return [".".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 8))) for _ in range(count)]


def _width(text: str) -> int:
    """As a browser counts characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_labels_are_short_and_never_the_same() -> None:
    worlds = [_texts(seed) for seed in range(400)]
    shortened = 0
    for texts, answer in zip(worlds, call_each("labels.ts", "labelsOf", [[one, MOST] for one in worlds]), strict=True):
        labels = dict(answer)
        assert set(labels) == set(texts)
        assert len(set(labels.values())) == len(labels), texts
        for text, label in labels.items():
            assert label == text or (_width(label) <= MOST < _width(text) and "…" in label), (text, label)
            shortened += label != text
    assert shortened > 1_000


def test_a_label_keeps_the_environment_of_a_long_name() -> None:
    hosts = [one.namespace.partition("://")[2] for one in LONG_TWINS]
    both, alone = call_each("labels.ts", "labelsOf", [[hosts, MOST], [hosts[:1], MOST]])
    assert [label for _, label in both] == ["…production-eu-…", "…staging-eu-wes…"]
    assert alone == [[hosts[0], "…production-eu-…"]]


def test_a_namespace_has_the_same_colour_everywhere_and_environments_have_their_own() -> None:
    names = [*ENVIRONMENTS, "prod-db:5432", "preprod_dwh", "non-prod", "product-db", "latest", "acme", "acme"]
    tones = call_each("labels.ts", "toneOf", [[one] for one in names])
    assert tones[:6] == ["env-prod", "env-staging", "env-dev", "env-prod", "env-staging", "env-dev"]
    assert all(one.removeprefix("env-").isdigit() for one in tones[6:])
    assert tones[-1] == tones[-2]
