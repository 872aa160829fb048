"""Signatures, questions and messages of Slack, without a server."""

import json
import random
import subprocess

import pytest

from security.slack.shown_text import words
from whence.api.slack.commands import Command, Verb, parse
from whence.api.slack.messages import changes_message, help_message
from whence.api.slack.signature import sign, verify
from whence.errors import AccessError
from whence.govern.slack_blocks import document
from whence.model.names import DatasetName, JobName
from whence.query.answers.values import Completeness
from whence.query.history.changes.values import (
    Change,
    ChangeKind,
    NotKnown,
    Part,
    Unknown,
    UpstreamChange,
    UpstreamChanges,
)

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
EXAMPLE = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
"""The body in Slack's documentation of its signatures."""


def test_the_signature_is_that_of_slacks_documentation() -> None:
    signature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    headers = {"x-slack-request-timestamp": "1531420618", "x-slack-signature": signature}
    verify(SECRET, headers, EXAMPLE, 1_531_420_618_000_000)
    verify(SECRET, headers, EXAMPLE, 1_531_420_918_999_999)
    for second in (1_531_420_919, 1_531_420_317):
        with pytest.raises(AccessError, match="timestamp"):
            verify(SECRET, headers, EXAMPLE, second * 1_000_000)


def test_openssl_computes_the_same_signature() -> None:
    dice = random.Random("slack")
    for _ in range(5):
        body, key = dice.randbytes(dice.randrange(300)), f"{dice.getrandbits(128):032x}"
        command = ["openssl", "dgst", "-sha256", "-hmac", key, "-r"]
        done = subprocess.run(command, input=b"v0:1531420618:" + body, capture_output=True, check=True)
        assert sign(key, "1531420618", body) == f"v0={done.stdout.split()[0].decode()}"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("gold.revenue", Command(verb=Verb.CHANGES, node="gold.revenue")),
        ("  changes gold.revenue --since 7d ", Command(verb=Verb.CHANGES, node="gold.revenue", since="7d")),
        ("gold.revenue —since=7d", Command(verb=Verb.CHANGES, node="gold.revenue", since="7d")),
        ("impact “Customer health” --share", Command(verb=Verb.IMPACT, node="Customer health", share=True)),
        ("upstream Customer health", Command(verb=Verb.UPSTREAM, node="Customer health")),
        ("upstream impact", Command(verb=Verb.UPSTREAM, node="impact")),
        ("changes it's", Command(verb=Verb.CHANGES, node="it's")),
        ("a&lt;b&amp;c", Command(verb=Verb.CHANGES, node="a<b&c")),
        ("a—b", Command(verb=Verb.CHANGES, node="a—b")),
        ("help", Command(verb=Verb.HELP)),
        ("", Command(verb=Verb.HELP)),
        ("upstream", Command(verb=Verb.HELP, mistake="upstream needs the name of a dataset, a column or a job")),
        ("impact a --since 7d", Command(verb=Verb.HELP, mistake="impact has no --since")),
    ],
)
def test_a_text_is_a_question(text: str, command: Command) -> None:
    assert parse(text) == command


def test_a_message_stays_within_the_limits_of_slack() -> None:
    long = "\u202e<!channel>" + "x" * 5_000
    node = DatasetName(long, long)
    parts = tuple(Part(change=Change.CHANGED, name=long, end=node, before=long, after=long) for _ in range(50))
    change = UpstreamChange(
        time=0,
        kind=ChangeKind.LINEAGE,
        change=Change.CHANGED,
        node=node,
        distance=3,
        parts=parts,
        job=JobName(long, long),
    )
    unknown = tuple(NotKnown(reason=one, nodes=(node,) * 20, total=1_000_000) for one in Unknown)
    completeness = Completeness(
        complete=False,
        stopped_by="nodes",
        depth_reached=9,
        frontier=(),
        frontier_nodes=0,
        as_of=None,
        graph_version="1",
    )
    found = UpstreamChanges(
        node=node,
        since=0,
        until=1,
        datasets=9,
        jobs=9,
        changes=(change,) * 1_000,
        not_known=unknown,
        completeness=completeness,
    )
    for message in (changes_message(found, "https://whence.test", "24h"), help_message("/lineage", long)):
        sent = document(message)
        assert len(sent["blocks"]) <= 50
        assert len(words(sent)) < 10_000
        assert len(sent["blocks"][0]["text"]["text"]) <= 150
        assert all(len(one.get("elements", ())) <= 10 for one in sent["blocks"] if one["type"] == "context")
        assert "\u202e" not in json.dumps(sent, ensure_ascii=False)
