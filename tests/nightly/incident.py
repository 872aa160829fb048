"""`whence demo --incident`: a real pipeline on Spark loses values, and a real Whence finds the incident and its end."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from whence.cli.process.serve import OPEN, plan, running
from whence.client.acts.incidents import IncidentDetail
from whence.client.questions import connect
from whence.demo.call_lists import report
from whence.demo.incident import show_incident
from whence.demo.tour import Tour
from whence.model.names import DatasetName
from whence.store.connection.engine import sqlite_url


@dataclass(frozen=True, slots=True)
class Shown:
    """What was printed, and the incident at its end. `data`: the directory of the pipeline."""

    text: str
    incident: IncidentDetail
    data: Path

    def dataset(self, path: str) -> str:
        """The node id of a dataset of the pipeline."""
        return str(DatasetName("file", str(self.data / path)))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """The whole tour."""
    base = tmp_path_factory.mktemp("whence").resolve() / "Zoë's data"
    base.mkdir()
    printed: list[str] = []
    with running(plan(base, sqlite_url(base / "store.db"), port=0, guard=OPEN)) as url, connect(url) as questions:
        ended = show_incident(Tour(data=base, folder=base / "incident", say=printed.append), questions)
        assert [one.id for one in questions.incidents(states=("open", "resolved")).incidents] == [ended.incident.id]
    return Shown("\n".join(printed), ended, base / "churn")


def test_it_begins_where_the_nulls_came_in_and_goes_to_the_owner(shown: Shown) -> None:
    one = shown.incident.incident
    assert one.root == shown.dataset("raw/usage_logs")
    assert set(one.symptoms) == {shown.dataset("silver/sessions"), shown.dataset("gold/features")}
    assert (one.routed_to, one.tier, one.owners) == ("team:app", 2, ("team:app",))
    assert shown.incident.runbook == "https://runbooks.example/usage-logs"
    assert shown.incident.causes[0].node == one.root


def test_it_names_whom_it_affects(shown: Shown) -> None:
    nearest = {each.kind: {one.node for one in each.nearest} for each in shown.incident.impact}
    assert shown.dataset("models/churn") in nearest["model"]
    assert str(report(shown.data)) in nearest["dashboard"]


def test_it_pages_and_ends_by_itself(shown: Shown) -> None:
    first, *_, last = shown.incident.changes
    assert (first.state, last.state) == ("open", "resolved")
    assert "page" in {one.notify for one in shown.incident.changes}
    assert not shown.incident.acts
    assert shown.incident.incident.until
    assert all(one.until for one in shown.incident.findings)


def test_the_terminal_shows_all_of_it(shown: Shown) -> None:
    id_ = shown.incident.incident.id
    diagnosed = shown.text.partition("$ whence diagnose")[2]
    assert "usage_logs" in next(line for line in diagnosed.splitlines() if line.startswith(" 1. "))
    assert f"/ui/incident?incident={id_}" in shown.text
    assert f"{id_}  resolved" in shown.text
    assert "pages team:app" in shown.text
