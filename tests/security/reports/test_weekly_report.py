"""The weekly report of a story: its figures, who reads which names, and that it is the same however it is derived."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from fastapi import FastAPI
from typer.testing import CliRunner, Result

from fixtures.migrated_stores import open_migrated
from govern.notifications.services import TOKEN, Mailbox, Slack, mail_server, serving
from govern.reports.week_story import (
    BOARD,
    COPY,
    DAY,
    HOUR,
    MINUTE,
    MONDAY,
    OLD,
    ORDERS,
    PAYROLL,
    PRICES,
    REVENUE,
    SALARIES,
    SECRETS,
    SUNDAY_END,
    WEEK,
    Shop,
    tell,
)
from security.conftest import House
from test_docs import EXAMPLE, page, shape
from whence.api.settings import Settings
from whence.cli.commands.app import app as command_line
from whence.client.acts.reports import WeeklyReport
from whence.govern.reports.documents import report_document
from whence.govern.reports.gather import ReportSources, gather_report
from whence.govern.reports.period import ReportPeriod, read_report_period
from whence.govern.reports.rendering.html import render_html
from whence.govern.reports.rendering.markdown import render_markdown
from whence.model.access import OPEN, Grant, Hiding, Role
from whence.query.answers.instants import iso
from whence.store.connection.engine import open_store, sqlite_url
from whence.store.security.database import open_security, write_security
from whence.store.security.grants import add_grant, add_hidings
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

LATER = SUNDAY_END + 3 * DAY
AT_WEEK_END = ReportPeriod(since=MONDAY, end=SUNDAY_END, until=SUNDAY_END, week=WEEK)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the log and the store of the story."""
    made = tmp_path_factory.mktemp("week")
    engine = open_migrated(sqlite_url(made / "store.db"))
    tell(Shop(engine, made / "log"))
    engine.dispose()
    return made


def report(data: Path, period: ReportPeriod = AT_WEEK_END, store: str = "", *, has_log: bool = True) -> dict[str, Any]:
    """The report of a store, for somebody who sees everything."""
    engine = open_store(store or sqlite_url(data / "store.db"))
    with snapshot(engine) as connection:
        log = Shop(engine, data / "log").log if has_log else None
        sources = ReportSources(catalog=StoreCatalog(connection), graph=StoreGraph(connection), log=log)
        found = report_document(gather_report(sources, period), OPEN)
    engine.dispose()
    return dict(found)


def test_each_figure_follows_from_the_story(data: Path) -> None:
    found = report(data)
    before, after = found["coverage_before"], found["coverage_after"]
    assert (before["datasets"], after["datasets"]) == (8, 9)
    assert (before["tier1"], before["tier1_columns"], after["tier1_columns"]) == (3, 1, 3)
    total = found["incidents"]["total"]
    # Orders fail on Tuesday, salaries are late on Tuesday, too, and payment fails on Thursday; an incident of salaries
    # is open since before the week, and resolved in it.
    assert (total["began"], total["open"]) == (3, 1)
    (sales,) = (one for one in found["incidents"]["domains"] if one["domain"].startswith("sales"))
    assert sales["time_to_detect"]["median"] == 10 * 60
    assert sales["time_to_identify"]["median"] == 15 * 60
    assert (sales["confirmed"], sales["confirmable"]) == (1, 1)
    downtime = {one["dataset"]: one for one in found["downtime"]["datasets"]}
    # In open hours in Berlin: Tuesday 9:00 to 14:00; and Tuesday 7:10 to Wednesday 5:10, Thursday 7:10 to Friday 23:00.
    assert downtime[str(REVENUE)] == {"dataset": str(REVENUE), "seconds": 5 * 3_600, "watched": 50 * 3_600}
    assert downtime[str(SALARIES)]["seconds"] == 22 * 3_600 + 39 * 3_600 + 50 * 60
    assert downtime[str(ORDERS)]["seconds"] is None
    assert found["unknown_upstreams"]["names"] == [str(PRICES)]
    assert found["gate"] == {"commits": {"blocked": 1, "pass": 1}, "promotions": {}, "approvals": 1, "waivers": 0}
    unused = [(one["dataset"], one["bytes"]) for one in found["usage"]["largest"]]
    assert unused[:2] == [(str(OLD), 2_500_000_000), (str(PAYROLL), 7_000_000)]
    assert {name for name, _ in unused[2:]} == {str(BOARD), str(COPY)}
    assert found["usage"]["bytes"] == 2_507_000_000


def test_the_past_is_what_was_known_then(data: Path) -> None:
    """On Tuesday at 5:15 the failure is detected, and not explained; at 5:05 it is not even detected."""
    began = MONDAY + DAY + 5 * HOUR
    for minutes, detected, undecided in ((5, 0, 0), (15, 1, 1), (26, 1, 0)):
        known = read_report_period(WEEK, None, began + minutes * MINUTE, LATER)
        domains = report(data, known)["incidents"]["domains"]
        (sales,) = (one for one in domains if one["domain"].startswith("sales"))
        assert (sales["began"], sales["open"]) == (1, 1)
        assert (sales["time_to_detect"]["count"], sales["undecided"]) == (detected, undecided)
        assert sales["time_to_detect"]["unknown"] == 1 - detected


def test_without_the_log_nobody_knows_when_it_was_detected(data: Path) -> None:
    total = report(data, has_log=False)["incidents"]["total"]
    assert total["time_to_detect"] == {"count": 0, "median": None, "p90": None, "unknown": 3}
    assert total["time_to_resolve"]["median"] is None
    assert (total["began"], total["confirmable"]) == (3, 0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_order_of_arrival_gives_the_same_bytes(data: Path, tmp_path: Path, seed: int) -> None:
    """A rebuild, in any order and with repetitions, is the stream that the story came in."""
    url = sqlite_url(tmp_path / "other.db")
    engine = open_migrated(url)
    Shop(engine, data / "log").apply(engine, seed)
    engine.dispose()
    for period in (AT_WEEK_END, read_report_period("", MONDAY + 3 * DAY + 7 * MINUTE, None, LATER)):
        one, other = report(data, period), report(data, period, url)
        assert json.dumps(one) == json.dumps(other)
        forms = [msgspec.convert(each, WeeklyReport) for each in (one, other)]
        assert len({render_markdown(each) for each in forms}) == 1
        assert len({render_html(each) for each in forms}) == 1


@pytest.fixture
def house(data: Path, tmp_path: Path) -> Iterator[House]:
    """The application over the story."""
    engine = open_security(sqlite_url(tmp_path / "security.db"))
    url = sqlite_url(data / "store.db")
    yield House(Settings(data=data, store_url=url, security_url=sqlite_url(tmp_path / "security.db")), engine)
    engine.dispose()


def test_hidden_names_are_in_no_form_of_it(data: Path, house: House) -> None:
    ada, ben = house.key("ada", Role.ADMIN), house.key("ben", Role.READER, "postgres://prod:5432")
    eve, joe, sam = house.key("eve", Role.READER), house.key("joe"), house.key("sam", Role.WRITER)
    with write_security(house.engine) as connection:
        add_grant(connection, "key:ben", Grant(Role.READER, "postgres://dev*"))
        add_hidings(connection, "key:eve", [Hiding("*", "*", "total")])

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        async def get(headers: dict[str, str], **parameters: str) -> httpx.Response:
            return await client.get("/api/v2/reports/weekly", params={"week": WEEK, **parameters}, headers=headers)

        whole, seen = (await get(ada)).json()["data"], (await get(ben)).json()["data"]
        assert whole == json.loads(json.dumps(report(data)))
        assert (await get(eve)).json()["data"] == whole
        text = render_markdown(msgspec.convert(seen, WeeklyReport))
        text += render_html(msgspec.convert(seen, WeeklyReport)).decode() + json.dumps(seen)
        assert not [secret for secret in SECRETS if secret in text]
        assert str(COPY) not in text
        # Everything else is the same, and what is left out is counted.
        assert seen["incidents"]["total"] == whole["incidents"]["total"]
        assert [part["hidden"] for part in (seen["incidents"], seen["downtime"], seen["budgets"])] == [3, 1, 1]
        assert seen["usage"]["hidden"] == 2
        assert [one["domain"].partition("|")[0] for one in seen["incidents"]["domains"]] == ["sales"]
        for part in ("seconds", "watched", "unwatched"):
            assert seen["downtime"][part] == whole["downtime"][part]
        assert [(await get(one)).status_code for one in (joe, {}, sam)] == [403, 401, 200]
        for wrong in ({"week": "2026-W99"}, {"week": "47"}, {"until": "soon", "week": ""}, {"as_of": iso(MONDAY)}):
            assert (await get(ada, **wrong)).status_code == 400, wrong
        current = (await get(ada, week="2026-W48")).json()["data"]["period"]
        assert (current["until"], current["over"]) == (iso(LATER), False)
        assert (await get(ada, week="")).json()["data"]["period"]["week"] == WEEK

    house.run(work, lambda: LATER)


def test_the_example_of_the_reference_is_answered_as_it_says(house: House) -> None:
    (_, target, _, status, documented), *_ = EXAMPLE.findall(page("docs/reference/http-reports.md"))
    ben = house.key("ben", Role.READER, "postgres://prod:5432")

    async def work(client: httpx.AsyncClient, app: FastAPI) -> None:
        answer = await client.get(target, headers=ben)
        assert answer.status_code == int(status)
        assert shape(answer.json()) == shape(json.loads(documented))

    house.run(work, lambda: LATER)


def test_the_terminal_prints_every_form(data: Path) -> None:
    def ask(*words: str) -> str:
        done = CliRunner().invoke(command_line, ["report", "weekly", "--data", str(data), *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    document = json.loads(ask("--week", WEEK, "-o", "json"))
    assert document == json.loads(json.dumps(report(data)))
    found = msgspec.convert(document, WeeklyReport)
    assert ask("--week", WEEK) == render_markdown(found)
    assert ask("--week", WEEK, "--html").encode() == render_html(found)
    assert ask("--until", iso(SUNDAY_END)).splitlines()[0] == "# Seven days until 2026-11-23"
    for words in (["--week", "soon"], ["--week", WEEK, "--until", "2026-11-20"], ["--as-of", "2020-01-01"]):
        wrong = CliRunner().invoke(command_line, ["report", "weekly", "--data", str(data), *words])
        assert (wrong.exit_code, "Traceback" in wrong.output) == (2, False)


def test_receivers_get_what_they_may_see(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK", TOKEN)
    mailbox, slack = Mailbox(), Slack()
    with mail_server(mailbox) as (host, port), serving(slack) as url:
        email = f"email: {{server: '{host}:{port}', from: w@example.com, to: [a@example.com], security: none}}"
        token = f"{{channel: C024BE91L, token: {{env: SLACK}}, url: '{url}/api'}}"
        (tmp_path / "receivers.yaml").write_text(f"""\
version: 1
receivers:
  - {{name: leads, {email}}}
  - {{name: shop, namespaces: ["postgres://prod*"], {email}}}
  - {{name: channel, namespaces: ["postgres://prod*"], slack: {token}}}
  - {{name: alerts, alertmanager: {{urls: ["http://127.0.0.1:9093"]}}}}
route: {{receiver: leads}}
""")

        def send(*names: str, further: tuple[str, ...] = ()) -> Result:
            words = [
                "--send",
                str(tmp_path / "receivers.yaml"),
                *(word for one in names for word in ("--receiver", one)),
            ]
            where = further or ("--data", str(data))
            return CliRunner().invoke(command_line, ["report", "weekly", "--week", WEEK, *where, *words])

        done = send("leads", "shop", "channel")
        assert (done.exit_code, done.stdout) == (0, "sent: leads\nsent: shop\nsent: channel\n"), done.output
        whole, seen = mailbox.mails
        assert whole["Subject"] == f"Whence: Week {WEEK}"
        assert "salaries.secret" in str(whole)
        (message,) = slack.messages.values()
        restricted = [part.get_content() for part in seen.iter_parts()] + [json.dumps(message)]
        assert len(restricted) == 3
        assert not [secret for secret in SECRETS if secret in "".join(restricted)]
        assert all("incidents began" in one for one in restricted)
        assert send("leads").exit_code == 0
        assert mailbox.mails[2]["Message-ID"] == whole["Message-ID"] != seen["Message-ID"]
        mailbox.refuse.append("550 no")
        assert send("leads").exit_code == 4
        for names, further in ((("nobody",), ()), (("alerts",), ()), ((), ())):
            assert send(*names, further=further).exit_code == 2
