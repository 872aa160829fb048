"""`receivers.yaml`: every mistake has its line, no secret is in it, and routes choose as those of Alertmanager do."""

from dataclasses import replace
from pathlib import Path

import pytest

from govern.notifications.notices import OPEN, STAGING
from govern.notifications.receivers import FILE
from whence.errors import DeliveryError, RulesFileError
from whence.govern.notifications.notice import Severity
from whence.govern.notifications.receivers import Receivers, Secret
from whence.govern.notifications.receivers_file import read_receivers


@pytest.fixture(scope="module")
def found() -> Receivers:
    return read_receivers(FILE)


def test_a_file_is_read_whole(found: Receivers) -> None:
    assert [one.name for one in found.receivers] == ["pager", "channel", "alertmanager", "hook", "mail", "tickets"]
    assert found.url == "https://whence.example.com"


@pytest.mark.parametrize(
    ("changed", "receivers"),
    [
        ({}, "pager alertmanager"),
        ({"severity": Severity.TICKET}, "tickets"),
        ({"owners": ("team:billing",)}, "mail"),
        ({"owners": ("team:orders", "team:finance"), "tier": "2"}, "mail"),
        ({"owners": ("team:finance",), "tier": "3"}, "pager alertmanager"),
        ({"owners": ()}, "pager alertmanager"),
        ({"root": STAGING, "severity": Severity.TICKET}, "hook"),
    ],
)
def test_routes_choose_the_receivers(found: Receivers, changed: dict[str, object], receivers: str) -> None:
    notice = replace(OPEN, **changed)  # type: ignore[arg-type]  # checked by the class
    assert " ".join(one.name for one in found.of(notice)) == receivers


def test_an_incident_without_a_route_is_for_the_fallback() -> None:
    narrow = FILE.replace("severity: ticket", "domain: nowhere").replace("severity: page", "domain: nowhere")
    assert [one.name for one in read_receivers(narrow).of(OPEN)] == ["channel"]


@pytest.mark.parametrize(
    ("written", "instead", "mistake"),
    [
        ("routing_key", "routing-key", "5: no key 'routing-key' belongs here; did you mean 'routing_key'?"),
        ("{env: TEST_SLACK_TOKEN}", "xoxb-1-2", "7: no secret belongs here: write {env: NAME} or {file: /path}, where"),
        ("TEST_SLACK_TOKEN", "xoxb-1-2", "7: write the name of an environment variable, not a secret"),
        ("C024BE91L", "'#orders'", "7: write the id of a channel, such as C024BE91L"),
        ("https://hooks", "https://me:pass@hooks", "11: no secret belongs into an address"),
        ("https://hooks", "ftp://hooks", "11: write an address that begins with https:// or http://"),
        ("smtp.example.com:587", "smtp.example.com", "14: write host and port: smtp.example.com:587"),
        ("      username: whence\n", "", "14: username and password belong together"),
        ("      username", "      security: none\n      username", "14: a password is only sent with starttls or tls"),
        ("data@example.com]", '"a@b.c\\nBcc: x@y.z"]', "16: write an e-mail address"),
        ("shop/pipeline", "pipeline", "20: write owner/name"),
        ("  receiver: channel\n", "", "22: the first route is the fallback: write its `receiver`"),
        ("receiver: channel", "receiver: chanel", "22: no receiver is named 'chanel'; the file has alertmanager, "),
        ("severity: page", "severity: urgent", "26: write page or ticket"),
        ("match: {severity: page}", "match: {}", "26: a route below the first one needs a `match`"),
        ("owner:", "team:", "30: no key 'team' belongs here; choose one of owner, tier"),
        ("name: pager", "name: channel", "6: the receiver 'channel' is here twice"),
        (
            "  - name: pager\n",
            "  - name: pager\n    slack: {channel: C024BE91L, token: {env: X}}\n",
            "4: a receiver has exactly",
        ),
        ("version: 1", "version: 2", "1: this release of Whence reads version 1"),
    ],
)
def test_a_mistake_has_its_line(written: str, instead: str, mistake: str) -> None:
    with pytest.raises(RulesFileError) as raised:
        read_receivers(FILE.replace(written, instead, 1))
    assert f"receivers.yaml:{mistake}" in str(raised.value)


OTHERS = ["", "[]", "a: &a [*a]", "version: 1", "route: {}", "version: 1\nreceivers: []\nroute: {receiver: []}"]


@pytest.mark.parametrize("text", OTHERS)
def test_other_documents_are_mistakes(text: str) -> None:
    with pytest.raises(RulesFileError, match=r"receivers\.yaml:\d+: "):
        read_receivers(text)


def test_a_secret_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("of a file\n")
    monkeypatch.setenv("TEST_TOKEN", "of a variable")
    assert (Secret(env="TEST_TOKEN").read(), Secret(file=str(file)).read()) == ("of a variable", "of a file")
    monkeypatch.delenv("TEST_TOKEN")
    with pytest.raises(DeliveryError, match="TEST_TOKEN: there is no secret"):
        Secret(env="TEST_TOKEN").read()
