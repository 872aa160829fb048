"""A slash command of Slack: who signed it, who may see what, and that foreign names are only text."""

import json
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import urlencode

import httpx
import pytest
from fastapi import FastAPI

from fixtures.stores_of_events import apply_bodies
from query.worlds.revenue_story import CLEAN, EVENTS, HOSTILE
from security.conftest import House, now
from security.slack.shown_text import words
from whence.api.server.app import create_app
from whence.api.settings import Settings, SlackSettings
from whence.api.slack import late_answers, routes
from whence.api.slack.routes import PATH
from whence.api.slack.signature import sign
from whence.model.access import Grant, Hiding, Role
from whence.store.connection.engine import open_store
from whence.store.security.database import write_security
from whence.store.security.grants import add_grant, add_hidings

Make = Callable[..., House]
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
TEAM, CHANNEL, ADA, EVE = "T0ACME", "C0DATA", "U0ADA", "U0EVE"
PERIOD = "--since 1970-01-01T10:00"


@pytest.fixture
def slack(house: Make, monkeypatch: pytest.MonkeyPatch) -> House:
    """The revenue story in three environments, behind an app of Slack that waits as long as a busy machine needs."""
    monkeypatch.setattr(routes, "_SECONDS", 600)
    made = house(slack=SlackSettings(signing_secret=SECRET, public_url="https://whence.test"))
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, EVENTS)
    engine.dispose()
    return made


def grant(of: House, subject: str, *namespaces: str) -> None:
    with write_security(of.engine) as connection:
        for one in namespaces:
            add_grant(connection, subject, Grant(Role.READER, one))


def signed(body: bytes, at: int | None = None, secret: str = SECRET) -> dict[str, str]:
    timestamp = str((at or now()) // 1_000_000)
    form = "application/x-www-form-urlencoded"
    return {
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": sign(secret, timestamp, body),
        "content-type": form,
    }


def form(text: str, person: str = ADA, channel: str = CHANNEL) -> bytes:
    fields = {"command": "/lineage", "team_id": TEAM, "channel_id": channel, "user_id": person, "text": text}
    return urlencode(fields).encode()


def send(of: House, *sent: tuple[bytes, dict[str, str]]) -> list[httpx.Response]:
    """The answers to requests, one after the other."""
    answers = []

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        for body, headers in sent:
            answers.append(await client.post(PATH, content=body, headers=headers))

    of.run(work)
    return answers


def ask(of: House, text: str, **sender: str) -> dict[str, Any]:
    body = form(text, **sender)
    (answer,) = send(of, (body, signed(body)))
    assert answer.status_code == 200
    assert "no-store" in answer.headers["cache-control"]
    found: dict[str, Any] = answer.json()
    return found


def test_nobody_but_slack_is_answered(slack: House) -> None:
    grant(slack, f"group:slack:{TEAM}:{CHANNEL}", "*")
    body = form(f"gold.revenue.total {PERIOD}")
    good = signed(body)
    wrong = [
        (body, {}),
        (body, {**good, "x-slack-signature": ""}),
        (body, {**good, "x-slack-signature": good["x-slack-signature"][3:]}),
        (body, {**good, "x-slack-request-timestamp": "soon"}),
        (body, signed(body, now() - 301_000_000)),
        (body, signed(body, now() + 310_000_000)),
        (body, signed(body, secret="another")),
        (form("impact raw.orders"), good),
        (body + b"&user_id=U0ROOT", good),
    ]
    for answer in send(slack, *wrong):
        assert answer.status_code == 401
        assert "revenue" not in answer.text
    large = b"text=" + b"x" * (1 << 17)
    (answer,) = send(slack, (large, signed(large)))
    assert answer.status_code == 413
    assert {(one.action, one.who, one.status) for one in slack.audited()} == {("refused", "nobody", 401)}


@pytest.mark.parametrize("person", ["", "U0 ADA", "U0ADA:C", "*", "u0ada"])
def test_a_body_without_ids_is_refused(slack: House, person: str) -> None:
    body = form("help", person=person)
    (answer,) = send(slack, (body, signed(body)))
    assert answer.status_code == 400


def test_without_a_grant_the_answer_says_which_one_is_missing(slack: House) -> None:
    found = words(ask(slack, f"gold.revenue.total {PERIOD}"))
    assert f"whence access grant user:slack:{TEAM}:{ADA} --role reader" in found
    assert f"whence access grant group:slack:{TEAM}:{CHANNEL} --role reader" in found
    assert "hop" not in found
    (entry,) = slack.audited()
    assert (entry.who, entry.action, entry.status) == (f"user:slack:{TEAM}:{ADA}", "refused", 403)


def test_a_person_reads_what_changed(slack: House) -> None:
    grant(slack, f"user:slack:{TEAM}:{ADA}", "postgres://prod*", "spark-prod")
    message = ask(slack, f"gold.revenue.total {PERIOD}")
    assert message["response_type"] == "ephemeral"
    found = words(message)
    assert found.startswith("What changed upstream of gold.revenue.total\n1970-01-01 10:00 to ")
    assert "checks: only who may read all namespaces sees them" in found
    assert "quality" not in found
    assert "1970-01-01 11:00 schema raw.orders.amount has another type: amount int → varchar · 2 hops upstream" in found
    assert "nobody reports the columns of 1 node. raw.promo" in found
    link = message["blocks"][-1]["elements"][0]["elements"][0]
    assert link["url"].startswith("https://whence.test/ui/changes?node=datasetField%3Apostgres")
    (entry,) = slack.audited()
    assert (entry.who, entry.action, entry.nodes) == (f"user:slack:{TEAM}:{ADA}", "read", ("gold.revenue.total",))
    assert "changes in slack:T0ACME:C0DATA" in entry.what
    grant(slack, f"user:slack:{TEAM}:{ADA}", "*")
    whole = words(ask(slack, f"dataset:postgres://prod:5432:gold.revenue {PERIOD}"))
    assert (
        "1970-01-01 14:00 quality gold.revenue.total began to fail a check: not_null held → failed · by revenue"
        in whole
    )


def test_the_other_questions(slack: House) -> None:
    grant(slack, f"group:slack:{TEAM}:{CHANNEL}", "postgres://prod*", "spark-prod")
    upstream = words(ask(slack, "upstream gold.revenue.total", person=EVE))
    assert upstream.splitlines()[0] == "Upstream of gold.revenue.total"
    assert "3 nodes, the nearest first" in upstream
    assert "silver.orders.net  1 hop" in upstream
    assert "0 hops" not in upstream
    assert "raw.orders.amount  2 hops" in upstream
    impact = words(ask(slack, "impact raw.orders.amount", person=EVE))
    assert impact.splitlines()[0] == "What breaks if raw.orders.amount changes"
    assert "gold.revenue.total  field · 2 hops" in impact
    assert "(2 fields)" in impact
    unknown = words(ask(slack, "impact gold.revnue"))
    assert "No dataset, column or job is named gold.revnue" in unknown
    assert "dataset:postgres://prod:5432:gold.revenue" in unknown
    assert "the period must begin before it ends" in words(ask(slack, "gold.revenue --since 2999-01-01"))
    assert "/lineage impact NODE" in words(ask(slack, ""))
    assert "there is no option --fast" in words(ask(slack, "gold.revenue --fast"))
    other = words(ask(slack, "impact raw.orders.amount", person=EVE, channel="C0OTHER"))
    assert other.startswith("You have no grant in Whence")


def test_no_answer_names_what_its_reader_may_not_see(slack: House) -> None:
    grant(slack, f"user:slack:{TEAM}:{EVE}", "spark-prod", "postgres://prod*")
    grant(slack, f"group:slack:{TEAM}:C0JOBS", "spark-prod")
    everything = (f"{verb} {node}" for verb in ("changes", "upstream", "impact") for node in ("revenue", "ingest"))
    for text in everything:
        whole = f"{text} {PERIOD}" if text.startswith("changes") else text
        shown = json.dumps(ask(slack, whole, person=EVE))
        assert "staging" not in shown
        assert "dev:" not in shown
        jobs_alone = json.dumps(ask(slack, whole, person=ADA, channel="C0JOBS"))
        assert not {"postgres", "gold.revenue", "silver.orders", "raw.orders"} & set(jobs_alone.split('"'))
        assert "postgres" not in jobs_alone
    assert "may not be seen here" in words(ask(slack, f"changes revenue {PERIOD}", channel="C0JOBS"))


def test_what_is_shared_has_the_rights_of_the_channel(slack: House) -> None:
    grant(slack, f"user:slack:{TEAM}:{ADA}", "*")
    alone = ask(slack, f"job:spark-prod:revenue {PERIOD} --share")
    assert (alone["response_type"], words(alone).splitlines()[0]) == (
        "ephemeral",
        "This channel has no grant in Whence",
    )
    grant(slack, f"group:slack:{TEAM}:{CHANNEL}", "spark-prod")
    shared = ask(slack, f"job:spark-prod:revenue {PERIOD} —share")
    assert shared["response_type"] == "in_channel"
    assert "postgres" not in json.dumps(shared)
    assert "raw.orders" not in json.dumps(shared)
    assert "raw.orders" in json.dumps(ask(slack, f"job:spark-prod:revenue {PERIOD}"))


def test_sharing_shows_nobody_what_is_hidden_from_them(slack: House) -> None:
    grant(slack, f"group:slack:{TEAM}:{CHANNEL}", "postgres://prod*", "spark-prod")
    with write_security(slack.engine) as connection:
        add_hidings(connection, f"user:slack:{TEAM}:{EVE}", [Hiding("*", "*", "amount")])
    for text in ("upstream gold.revenue.total", "upstream gold.revenue.total --share"):
        assert "raw.orders.amount" not in words(ask(slack, text, person=EVE))
        assert "raw.orders.amount" in words(ask(slack, text, person=ADA))


def test_a_hostile_name_is_only_text(slack: House) -> None:
    grant(slack, f"group:slack:{TEAM}:{CHANNEL}", "postgres://prod*", "spark-prod")
    message = ask(slack, f"{shlex.quote(str(CLEAN))} {PERIOD}")
    shown = HOSTILE.replace("\x1b", "\\x1b")
    assert words(message).startswith(f"What changed upstream of {shown}")
    assert message["text"] == f"What changed upstream of {shown}".replace("<", "&lt;").replace(">", "&gt;")
    kinds = {block["type"] for block in message["blocks"]}
    assert kinds <= {"header", "context", "rich_text"}
    assert "mrkdwn" not in json.dumps(message)
    mistaken = ask(slack, "--<!channel>")
    assert "<!channel>" not in mistaken["text"]


class Hooks(BaseHTTPRequestHandler):
    """Where Slack takes late answers. `statuses`: of the next answers, 200 after them."""

    sent: ClassVar[list[tuple[str, dict[str, Any]]]] = []
    statuses: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.sent.append((self.path, json.loads(body)))
        self.send_response(self.statuses.pop(0) if self.statuses else 200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hooks() -> Iterator[str]:
    """The address at which a local server takes late answers."""
    Hooks.sent, Hooks.statuses = [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), Hooks) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def late(slack: House, hooks: str, monkeypatch: pytest.MonkeyPatch) -> House:
    """The same app of Slack, which does not wait at all, and takes answers at `hooks`."""
    monkeypatch.setattr(routes, "_SECONDS", 0)
    monkeypatch.setattr(late_answers, "_PAUSES", (0.0, 0.0))
    settings = SlackSettings(signing_secret=SECRET, public_url="https://whence.test", response_base=hooks)
    return replace(slack, settings=replace(slack.settings, slack=settings))


def ask_late(of: House, text: str, url: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The immediate answer, and the answers that came later."""
    body = form(text) + b"&" + urlencode({"response_url": url}).encode()
    answers: list[dict[str, Any]] = []

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        answers.append((await client.post(PATH, content=body, headers=signed(body))).json())
        await app.state.late_answers.wait()

    of.run(work)
    return answers[0], [one for _, one in Hooks.sent]


def test_an_answer_that_takes_too_long_comes_later(late: House, hooks: str) -> None:
    grant(late, f"group:slack:{TEAM}:{CHANNEL}", "postgres://prod*", "spark-prod")
    first, later = ask_late(late, "impact raw.orders.amount", f"{hooks}/commands/T0ACME/1/x")
    assert "longer than Slack waits" in words(first)
    assert "comes here" in words(first)
    (message,) = later
    assert [path for path, _ in Hooks.sent] == ["/commands/T0ACME/1/x"]
    assert message["response_type"] == "ephemeral"
    assert words(message).startswith("What breaks if raw.orders.amount changes")
    assert "staging" not in json.dumps(message)
    (entry,) = late.audited()
    assert (entry.who, entry.action, entry.status) == (f"user:slack:{TEAM}:{ADA}", "read", 200)


def test_a_late_answer_is_shared_and_refused_as_an_immediate_one(late: House, hooks: str) -> None:
    _, (refused,) = ask_late(late, "impact raw.orders.amount --share", f"{hooks}/commands/1")
    assert (refused["response_type"], "This channel has no grant" in words(refused)) == ("ephemeral", True)
    grant(late, f"group:slack:{TEAM}:{CHANNEL}", "postgres://prod*")
    _, (_, shared) = ask_late(late, "impact raw.orders.amount --share", f"{hooks}/commands/1")
    assert shared["response_type"] == "in_channel"


def test_a_late_answer_is_sent_again_where_slack_is_away_and_not_where_it_refuses(late: House, hooks: str) -> None:
    grant(late, f"group:slack:{TEAM}:{CHANNEL}", "*")
    for statuses, attempts in (([503, 429], 3), ([500, 500, 500], 3), ([404], 1), ([302], 1)):
        Hooks.sent, Hooks.statuses = [], list(statuses)
        _, sent = ask_late(late, "impact raw.orders.amount", f"{hooks}/commands/1")
        assert len(sent) == attempts
        assert all(one == sent[0] for one in sent)


def test_a_late_answer_goes_nowhere_but_to_slack(late: House, hooks: str) -> None:
    grant(late, f"group:slack:{TEAM}:{CHANNEL}", "*")
    port = hooks.rpartition(":")[2]
    for url in (
        "",
        f"https://127.0.0.1:{port}/",
        f"http://localhost:{port}/",
        f"http://ada@127.0.0.1:{port}/",
        "http://127.0.0.1/",
        "http://127.0.0.1:x/",
        f"//127.0.0.1:{port}/",
    ):
        first, later = ask_late(late, "impact raw.orders.amount", url)
        assert "whence impact raw.orders.amount" in words(first)
        assert later == []


def test_slack_itself_takes_late_answers_over_https_alone() -> None:
    base = SlackSettings(signing_secret=SECRET).response_base
    assert late_answers.is_base(base)
    assert late_answers.is_at("https://hooks.slack.com/commands/T1/2/x", base)
    assert late_answers.is_at("https://hooks.slack.com:443/commands/T1/2/x", base)
    for wrong in (
        "http://hooks.slack.com/commands/T1",
        "https://hooks.slack.com.evil.test/commands",
        "https://hooks.slack.com@evil.test/",
        "https://evil.test/?https://hooks.slack.com/",
        "https://hooks.slack.com:8443/commands",
        "https://HOOKS.slack.com\\@evil.test/",
    ):
        assert not late_answers.is_at(wrong, base), wrong
    assert late_answers.is_base("http://127.0.0.1:9000")
    assert late_answers.is_base("https://hooks.slack-gov.com/")
    for wrong in (
        "http://hooks.slack.com",
        "hooks.slack.com",
        "",
        "https://",
        "https://a@b",
        "https://a/b",
        "http://[::1",
    ):
        assert not late_answers.is_base(wrong), wrong


def test_servers_without_a_secret_or_without_keys_have_no_such_path(house: Make) -> None:
    closed = house()
    body = form("help")
    (answer,) = send(closed, (body, signed(body)))
    assert answer.status_code == 401
    settings = Settings(
        data=closed.settings.data,
        store_url=closed.settings.store_url,
        open=True,
        slack=SlackSettings(signing_secret=SECRET),
    )
    opened = create_app(settings)
    assert PATH not in {getattr(one, "path", "") for one in opened.routes}
    assert SECRET not in repr(settings)
