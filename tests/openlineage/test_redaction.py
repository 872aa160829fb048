"""Secrets never reach the log (rule 48): pairs in golden/redaction.txt, and properties over hostile texts."""

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fixtures.golden_cases import Case, load
from whence.model.events import RunEvent
from whence.openlineage.accept import accept
from whence.openlineage.json.wire import encode_canonical
from whence.openlineage.read import read_event
from whence.openlineage.redaction.redact import find_suspect_kinds, redact, redact_body
from whence_client.redaction.secrets import KINDS

CASES = load("redaction.txt")
WORDS = "password PWD token api_key secret = ' \" \\ :// @ : / eyJ .eyJ AKIA 0123456789ABCDEF ghp_ ?sig= -- ſ K u 80 x"
PIECES = st.sampled_from(
    [
        *("?", "&", ";", "api", "Key=", "curl -u ", "mysql -p", "glpat-", "xoxb-", "hooks.slack.com/", "services/"),
        *WORDS.split(),
        *(" ", ": ", "\n", "bearer ", "Authorization: Basic ", "identified by ", "[redacted]"),
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers(0, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(TEXTS | st.sampled_from(["name", "value", "query", "sourceCode", "tags"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def redacted(value: Any) -> Any:
    event = {"x": value}
    return redact(event, find_suspect_kinds(encode_canonical(event)))[0]["x"]


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_redaction(case: Case) -> None:
    assert redacted(case.given) == json.loads("\n".join(case.expected))


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_golden_results_are_redacted_already(case: Case) -> None:
    after = json.loads("\n".join(case.expected))
    assert redacted(after) == after


@given(VALUES)
@example({"name": "@", "": "://://://@"})
@example("://u:/a@b@@c")
def test_redaction_is_idempotent(value: Any) -> None:
    once = redacted(value)
    assert redacted(once) == once


@given(VALUES)
def test_glance_misses_nothing(value: Any) -> None:
    """What a full search would change, the glance at the canonical JSON has seen coming."""
    event = {"x": value}
    assert redact(event, find_suspect_kinds(encode_canonical(event))) == redact(event, KINDS)


@given(TEXTS)
def test_identities_lose_nothing_but_credentials(text: str) -> None:
    for one in ("@", "?", "&", ";", "ghp_", "AKIA", "glpat-", "xoxb-", "hooks"):
        text = text.replace(one, "-")
    before = {"namespace": text, "name": text}
    assert redacted(before) == before


@given(TEXTS, st.sampled_from(["name", "namespace", "key of an object"]))
@example("?apiKey=x", "name")
@example("//hooks.slack.com//services//T0000/B0000/abcdefghij0123", "namespace")
def test_glance_sees_what_names_lose(text: str, where: str) -> None:
    """`redact` is only called where the glance found something: a name that it would change must be among that."""
    event: dict[str, Any] = {"x": {where: text} if where.startswith("name") else {text: 1}}
    assert redact(event, KINDS)[0] == event or find_suspect_kinds(encode_canonical(event))


def test_no_secret_in_what_is_accepted() -> None:
    secret = "hunter2-Zq"
    event = {
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "p",
        "schemaURL": f"https://u:{secret}@schemas/x",
        "run": {
            "runId": "01941f29-7c00-7abc-8def-000000000001",
            "facets": {
                "environmentVariables": {"environmentVariables": [{"name": "X_TOKEN", "value": secret}]},
                "errorMessage": {
                    "message": f"login failed: password={secret}",
                    "stackTrace": f"mysql://u:{secret}@h/x",
                },
            },
        },
        "job": {
            "namespace": f"https://u:{secret}@airflow",
            "name": "j",
            "facets": {
                "sql": {"query": f"CREATE USER x PASSWORD '{secret}'"},
                "sourceCode": {"language": "python", "sourceCode": f"client_secret = '{secret}'"},
            },
        },
        "inputs": [
            {
                "namespace": f"postgres://u:{secret}@db",
                "name": "a.b.c",
                "facets": {"dataSource": {"uri": f"jdbc://u:{secret}@db"}},
            }
        ],
    }
    accepted = accept(json.dumps(event).encode())
    assert secret.encode() not in accepted.payload
    assert isinstance(accepted.event, RunEvent)
    assert accepted.event.job.name.namespace == "https://airflow"
    assert read_event(accepted.payload) == accepted.event
    assert accepted.warnings[-1] == "/: 9 secrets redacted"
    assert accept(accepted.payload).key == accepted.key


def test_escapes_on_the_wire_hide_nothing() -> None:
    body = (
        b'{"eventTime":"2026-01-01T00:00:00Z","job":{"namespace":"n","name":"j","facets":{"x":'
        b'{"a":"\\u0070ass\\u0077ord=hunter2","b":"mysql:\\/\\/u:hunter2\\u0040h"}}}}'
    )
    assert b"hunter2" not in accept(body).payload


@pytest.mark.parametrize(
    "body",
    [
        b'{"password": "hunter2", "x": 1}',
        b'{"p\\u0061ssword": "hunter2"}',
        b'{"password": "hunter2", "x": ',
        b'[{"url": "mysql://u:hunter2@h"}]',
        b'{"environmentVariables": [{"name": "DB_PASSWORD", "value": "hunter2"',
        b"\xff password=hunter2",
    ],
)
def test_refused_bodies_are_redacted_as_well(body: bytes) -> None:
    kept = redact_body(body)
    assert b"hunter2" not in kept
    assert b"[redacted]" in kept or b"mysql://u:" in kept
    assert redact_body(kept) == kept


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"a":  1}', b"[1, 2"])
def test_refused_bodies_without_secrets_stay_as_they_came(body: bytes) -> None:
    assert redact_body(body) is body


@pytest.mark.parametrize(
    "unit",
    [
        "eyJ-",
        "://a:",
        "password='",
        "--",
        "bearer ",
        "@",
        "pwd=\\'",
        ".eyJaaaa",
        "identified with ",
        "-----BEGIN PRIVATE KEY-----",
        "api_",
        "curl -u a",
        "curl ",
        "mysql -",
        "mysql ",
        "?a.",
        "&token",
        "glpat-",
        "hooks.slack.com/services/",
    ],
)
def test_hostile_texts_take_linear_time(unit: str) -> None:
    def seconds(size: int) -> float:
        event = {"x": unit * (size // len(unit)) + "@ .eyJ password key -----begin"}
        start = time.process_time()
        redact(event, KINDS)
        return time.process_time() - start

    small, large = min(seconds(20_000) for _ in range(3)), seconds(160_000)
    assert large < 40 * small + 0.2
