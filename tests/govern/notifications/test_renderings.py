"""What each kind of receiver gets, beside the committed text; and that no name is markup, a mention or a header."""

import json
import re
from dataclasses import replace
from email import message_from_string, policy
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.golden_texts import compare
from govern.notifications.notices import EVIL, HOSTILE, NOW, OPEN, ORDERS, RESOLVED, STAGING, act, storm
from govern.notifications.receivers import FILE
from whence.govern.notifications.deliver import kind_of, preview
from whence.govern.notifications.notice import Act, Detail, Link, Notice, Symptom
from whence.govern.notifications.receivers import Receiver
from whence.govern.notifications.receivers_file import read_receivers
from whence.govern.notifications.rendering.alertmanager import alerts
from whence.govern.notifications.rendering.pagerduty import event
from whence.model.names import DatasetName

GOLDEN = Path(__file__).parent / "golden"
FOUND = read_receivers(FILE)
KINDS = {kind_of(one): one for one in FOUND.receivers}
BASE = "https://whence.example.com"


def later() -> Act:
    return act(RESOLVED, earlier=(OPEN,), reference="<first@example.com>")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["open", "resolved"])
def test_a_notice_has_the_committed_form(kind: str, name: str) -> None:
    shown = preview(KINDS[kind], act(OPEN) if name == "open" else later(), FOUND.url)
    compare(GOLDEN / f"{kind}-{name}.txt", shown)


@pytest.mark.parametrize("kind", KINDS)
def test_every_attempt_has_the_same_content(kind: str) -> None:
    first, second = (preview(KINDS[kind], act(OPEN), FOUND.url) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"webhook"}))
def test_no_foreign_text_is_markup_or_a_mention(kind: str) -> None:
    shown = preview(KINDS[kind], act(HOSTILE), FOUND.url)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", shown)
    match kind:
        case "slack":
            assert_slack_reads_nothing(json.loads(shown))
        case "github":
            text = re.sub(r"<!-- whence incident \w+ -->|`[^`\n]*`", "", shown.partition("\n\n")[2])
            assert not re.search(r"[@<\[]", text.replace(f"[Incident]({BASE}", "").replace(f"[Graph]({BASE}", ""))
            assert "@everyone" not in shown.partition("\n")[0]
        case "email":
            assert_mail_is_harmless(shown)
        case _:
            assert not re.search(r"[<>]|@(everyone|channel)", shown)


def assert_slack_reads_nothing(document: dict[str, object]) -> None:
    assert "mrkdwn" not in json.dumps(document)
    assert "<" not in str(document["text"])
    assert set(re.findall(r'"type": "(\w+)"', json.dumps(document["blocks"]))) <= {
        *("header", "context", "plain_text", "rich_text", "rich_text_list", "rich_text_section", "text", "link")
    }


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags = set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert all(value is None or value == "left" or value.startswith(BASE) for _, value in attrs)


def assert_mail_is_harmless(shown: str) -> None:
    parsed = message_from_string(shown, policy=policy.default)
    assert parsed["Bcc"] is None
    assert parsed["To"] == "orders@example.com, data@example.com"
    body = parsed.get_body(("html",))
    assert body is not None
    assert Tags(body.get_content()).tags == {"h2", "table", "tr", "th", "td", "p", "ul", "li", "a"}


def test_programs_get_exact_names() -> None:
    assert json.loads(preview(KINDS["webhook"], act(HOSTILE), FOUND.url))["data"]["root"] == str(EVIL)


def test_texts_stay_within_the_limits_of_the_services() -> None:
    big = replace(storm(5_000, HOSTILE), details=HOSTILE.details * 100)
    body = event(act(big), BASE)["payload"]
    assert len(body["summary"]) <= 1_024
    assert len(json.dumps(body)) < 512_000
    slack = json.loads(preview(KINDS["slack"], act(big), FOUND.url))
    assert len(slack["blocks"]) <= 50
    assert len(slack["blocks"][0]["text"]["text"]) <= 150
    assert all(len(one["elements"]) <= 10 for one in slack["blocks"] if one["type"] == "context")
    assert len(json.dumps(slack["blocks"])) < 13_000
    assert len(preview(KINDS["github"], act(big), FOUND.url)) < 65_536


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_receiver_may_not_see_is_counted_and_not_named(kind: str) -> None:
    """An incident in staging with datasets of production below it, and one in production."""
    limited = Receiver(name="staging", target=KINDS[kind].target, namespaces=("postgres://staging*",))
    last_run = Detail(label="Last successful run", text=f"load of {ORDERS.name}", nodes=(ORDERS,))
    in_staging = replace(storm(3), title="it is late", root=STAGING, details=(last_run,))
    shown = preview(limited, act(in_staging), FOUND.url)
    assert "it is late" in shown
    assert not re.search("mart|Last successful run|prod", shown)
    hidden = preview(limited, act(storm(3)), FOUND.url).replace("orders@example.com", "")
    assert "may not see" in hidden.replace("=\n", "")
    assert not re.search("orders|mart|prod|sales", hidden)


SECRET = st.integers(0, 10**6).map(lambda number: f"secret{number}")
NODES = st.builds(DatasetName, st.sampled_from(["postgres://staging", "postgres://secretprod"]), SECRET)


@st.composite
def mixed_incidents(draw: st.DrawFn) -> Notice:
    """An incident whose nodes may be seen in one namespace, and not in another. Whatever may not be seen is secret."""

    def shown(node: DatasetName) -> DatasetName:
        is_visible = node.namespace == STAGING.namespace
        return replace(node, name=node.name.replace("secret", "plain")) if is_visible else node

    nodes = [shown(node) for node in draw(st.lists(NODES, min_size=1, max_size=15))]
    text = "secret words"
    return replace(
        draw(st.sampled_from([OPEN, RESOLVED])),
        root=nodes[0],
        title="secret title" if nodes[0].namespace != STAGING.namespace else "plain title",
        symptoms=tuple(Symptom(node=one, rule="fresh", text=text, since=NOW) for one in nodes[1:]),
        details=(*(Detail(label="Of", text=one.name, nodes=(one,)) for one in nodes), Detail(label="Why", text=text)),
        links=tuple(Link(title="Graph", path=f"/ui/{one.name}", nodes=(one,)) for one in nodes),
        owners=("secretowner",) if nodes[0].namespace != STAGING.namespace else ("plainowner",),
    )


@given(notice=mixed_incidents())
def test_no_hidden_name_leaves_by_any_receiver(notice: Notice) -> None:
    for kind, receiver in KINDS.items():
        limited = Receiver(name="staging", target=receiver.target, namespaces=("postgres://staging",))
        shown = preview(limited, act(notice, earlier=(notice,)), FOUND.url).replace("=\n", "")
        assert "secret" not in shown, kind


def test_alerts_that_hold_win_over_those_that_ended() -> None:
    """An objective was violated, held, and is violated again: the labels are the same, and the alert fires."""
    holds = OPEN.symptoms[1]
    both = replace(OPEN, symptoms=(holds, replace(holds, since=1, until=NOW - 1)))
    assert [one["endsAt"] for one in alerts(both, NOW)] == ["2026-11-27T06:00:00Z"]
    assert {one["endsAt"] for one in alerts(RESOLVED, RESOLVED.at)} == {"2026-11-27T02:20:00Z"}
