"""Each kind of receiver gets an incident from its beginning to its end, with failures and lost answers on the way."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from cli.gate.forges.forge_server import Failure, forge_server
from cli.gate.forges.forge_server import Forge as ForgeServer
from govern.notifications.issues import TOKEN as GITHUB_TOKEN
from govern.notifications.issues import Issues
from govern.notifications.notices import OPEN, RESOLVED, act
from govern.notifications.services import (
    ROUTING_KEY,
    SECRET,
    TOKEN,
    Mailbox,
    PagerDuty,
    Slack,
    Webhook,
    mail_server,
    serving,
)
from whence.errors import DeliveryError
from whence.govern.notifications.adapters.http import Http, open_http
from whence.govern.notifications.deliver import deliver
from whence.govern.notifications.notice import Act, State
from whence.govern.notifications.receivers import (
    EmailReceiver,
    GitHubReceiver,
    PagerDutyReceiver,
    Receiver,
    Secret,
    Security,
    SlackReceiver,
    Target,
    WebhookReceiver,
)

ACKNOWLEDGED = replace(OPEN, transition="aa", state=State.ACKNOWLEDGED, at=OPEN.at + 1)


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"PD": ROUTING_KEY, "SLACK": TOKEN, "HOOK": SECRET, "GH": GITHUB_TOKEN}.items():
        monkeypatch.setenv(name, text)


@pytest.fixture
def http() -> Iterator[Http]:
    with open_http() as http:
        yield http


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def send(http: Http, target: Target, one: Act) -> str:
    return deliver(http, Receiver(name="orders", target=target), one, "https://whence.example.com")


def whole_story(http: Http, target: Target) -> list[str]:
    """An incident that is opened, acknowledged and resolved. Returns what the acts refer to."""
    first = send(http, target, act(OPEN))
    second = send(http, target, act(ACKNOWLEDGED, earlier=(OPEN,), reference=first))
    third = send(http, target, act(RESOLVED, earlier=(OPEN, ACKNOWLEDGED), reference=first))
    return [first, second, third]


def test_pagerduty_pages_once_and_resolves(http: Http, stack: ExitStack) -> None:
    service = PagerDuty()
    target = PagerDutyReceiver(routing_key=Secret(env="PD"), url=stack.enter_context(serving(service)) + "/v2/enqueue")
    key, *_ = whole_story(http, target)
    assert [one.body["event_action"] for one in service.requests] == ["trigger", "acknowledge", "resolve"]
    assert (service.alerts, service.pages) == ({key: "resolve"}, 1)


def test_pagerduty_pages_once_if_an_answer_is_lost(http: Http, stack: ExitStack) -> None:
    service = PagerDuty()
    target = PagerDutyReceiver(routing_key=Secret(env="PD"), url=stack.enter_context(serving(service)))
    service.failures, service.is_done = [500, 0], True
    for _ in range(2):
        with pytest.raises(DeliveryError):
            send(http, target, act(OPEN))
    send(http, target, act(OPEN, is_repeated=True))
    assert service.pages == 1


def test_an_incident_that_takes_the_place_of_another_pages_nobody_again(http: Http, stack: ExitStack) -> None:
    service = PagerDuty()
    target = PagerDutyReceiver(routing_key=Secret(env="PD"), url=stack.enter_context(serving(service)))
    merged = replace(OPEN, transition="bb", state=State.MERGED, goes_on=True)
    wider = replace(OPEN, incident="ffff", origin=OPEN.incident, transition="cc")
    for one in (OPEN, merged, wider, replace(RESOLVED, incident="ffff", origin=OPEN.incident)):
        send(http, target, act(one))
    assert (list(service.alerts.values()), service.pages) == (["resolve"], 1)


def slack(stack: ExitStack, service: Slack, channel: str = "C024BE91L") -> SlackReceiver:
    url = stack.enter_context(serving(service))
    return SlackReceiver(channel=channel, token=Secret(env="SLACK"), url=f"{url}/api")


def test_slack_edits_its_first_message(http: Http, stack: ExitStack) -> None:
    service = Slack()
    target = SlackReceiver(
        channel="C024BE91L", token=Secret(env="SLACK"), url=stack.enter_context(serving(service)) + "/api"
    )
    references = whole_story(http, target)
    (message,) = service.messages.values()
    assert len(set(references)) == 1
    assert message["text"].startswith("[RESOLVED] shop.orders is late")
    assert [one.path for one in service.requests] == ["/api/chat.postMessage", *["/api/chat.update"] * 2]


def test_slack_finds_a_message_whose_answer_was_lost(http: Http, stack: ExitStack) -> None:
    service = Slack()
    target = SlackReceiver(
        channel="C024BE91L", token=Secret(env="SLACK"), url=stack.enter_context(serving(service)) + "/api"
    )
    service.failures, service.is_done = [0], True
    with pytest.raises(DeliveryError):
        send(http, target, act(OPEN))
    send(http, target, act(OPEN, is_repeated=True))
    assert len(service.messages) == 1
    service.messages.clear()  # somebody deleted it
    send(http, target, act(RESOLVED, earlier=(OPEN,), reference="C024BE91L/1.0"))
    assert [one["text"][:10] for one in service.messages.values()] == ["[RESOLVED]"]


def test_slack_says_what_it_refuses(http: Http, stack: ExitStack) -> None:
    service = Slack()
    target = slack(stack, service, "C0NOWHERE")
    with pytest.raises(DeliveryError, match=r"chat\.postMessage was refused: channel_not_found"):
        send(http, target, act(OPEN))
    service.failures, service.headers = [429], {"Retry-After": "30"}
    with pytest.raises(DeliveryError, match="answered 429") as raised:
        send(http, target, act(OPEN))
    assert raised.value.pause == 30


def test_a_webhook_is_signed_and_repeated_under_its_id(http: Http, stack: ExitStack) -> None:
    service = Webhook()
    target = WebhookReceiver(url=stack.enter_context(serving(service)) + "/T0/secret-path", secret=Secret(env="HOOK"))
    whole_story(http, target)
    assert [one["type"] for one in service.received.values()] == [
        "incident.open",
        "incident.acknowledged",
        "incident.resolved",
    ]
    send(http, target, act(OPEN, is_repeated=True))
    assert len(service.received) == 3
    assert len({one.content for one in service.requests}) == 3
    service.failures = [500]
    with pytest.raises(DeliveryError) as raised:
        send(http, target, act(OPEN))
    assert "secret-path" not in str(raised.value)


@pytest.mark.parametrize("secret", ["", "hunter2", "whsec_MTIzNDU2Nzg="])
def test_a_webhook_without_a_strong_secret_is_not_sent(
    http: Http, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("HOOK", secret)
    with pytest.raises(DeliveryError, match="secret"):
        send(http, WebhookReceiver(url="http://127.0.0.1:9", secret=Secret(env="HOOK")), act(OPEN))


def test_redirects_are_not_followed(http: Http, stack: ExitStack) -> None:
    service = Webhook()
    target = WebhookReceiver(url=stack.enter_context(serving(service)), secret=Secret(env="HOOK"))
    service.failures, service.headers = [307], {"Location": "http://127.0.0.1:9/elsewhere"}
    with pytest.raises(DeliveryError, match="answered 307"):
        send(http, target, act(OPEN))


def test_mails_of_one_incident_are_a_thread(http: Http, stack: ExitStack) -> None:
    mailbox = Mailbox()
    host, port = stack.enter_context(mail_server(mailbox))
    target = EmailReceiver(
        host=host, port=port, sender="whence@example.com", to=("a@example.com", "b@example.com"), security=Security.NONE
    )
    mailbox.refuse = ["451 try again later"]
    with pytest.raises(DeliveryError, match="answered 451"):
        send(http, target, act(OPEN))
    first, *_ = whole_story(http, target)
    assert mailbox.mails[0]["Message-ID"] == first
    assert [one["In-Reply-To"] for one in mailbox.mails] == [None, first, first]
    assert len({one["Message-ID"] for one in mailbox.mails}) == 3
    assert [one["Subject"].split()[0] for one in mailbox.mails] == ["[PAGE]", "[ACKNOWLEDGED]", "[RESOLVED]"]
    assert {one.get_content_type() for one in mailbox.mails[0].iter_parts()} == {"text/plain", "text/html"}


def test_a_mail_server_without_encryption_gets_no_mail(http: Http, stack: ExitStack) -> None:
    mailbox = Mailbox()
    host, port = stack.enter_context(mail_server(mailbox))
    with pytest.raises(DeliveryError, match="STARTTLS"):
        send(http, EmailReceiver(host=host, port=port, sender="w@example.com", to=("a@example.com",)), act(OPEN))
    assert mailbox.mails == []


def test_an_issue_is_opened_commented_on_and_closed(http: Http, stack: ExitStack) -> None:
    issues = Issues()
    target = github(stack, issues)
    assert whole_story(http, target) == ["1", "1", "1"]
    (issue,) = issues.issues
    assert (issue["state"], issue["state_reason"], issue["labels"]) == ("closed", "completed", ["incident"])
    assert [re.findall(r"\*\*(\w+)\*\*", one["body"])[0] for one in issue["comments"]] == ["Acknowledged", "Resolved"]


def test_an_issue_is_not_opened_or_commented_on_twice(http: Http, stack: ExitStack) -> None:
    issues = Issues()
    target = github(stack, issues)
    for path, one in (("/issues", act(OPEN)), ("/comments", act(RESOLVED, earlier=(OPEN,), reference="1"))):
        issues.failures.append(Failure("POST", path, 502, is_done=True))
        with pytest.raises(DeliveryError, match="answered 502"):
            send(http, target, one)
        send(http, target, replace(one, is_repeated=True))
    (issue,) = issues.issues
    assert (len(issue["comments"]), issue["state"]) == (1, "closed")


def github(stack: ExitStack, issues: Issues) -> GitHubReceiver:
    server = ForgeServer(
        answer=issues.answer,
        credential=("Authorization", f"Bearer {GITHUB_TOKEN}"),
        refusal="Bad credentials",
        page_size=30,
        failures=issues.failures,
    )
    return GitHubReceiver(
        repository="shop/pipeline", token=Secret(env="GH"), url=stack.enter_context(forge_server(server))
    )


def test_a_receiver_that_is_away_is_named(http: Http) -> None:
    target = PagerDutyReceiver(routing_key=Secret(env="PD"), url="http://127.0.0.1:9/secret")
    with pytest.raises(DeliveryError, match=r"^http://127\.0\.0\.1:9: "):
        send(http, target, act(OPEN))
