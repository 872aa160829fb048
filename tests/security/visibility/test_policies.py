"""Policies evaluated by a server: everybody is told of what they may see, and that more is hidden; never its names."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from fixtures.stores_of_events import apply_bodies
from query.worlds.sensitive_story import BODIES, CRM, DEV, FEATURES, REPORT, STAGING, USERS, of
from security.conftest import House
from whence.model.access import SCOPES, Action, Role
from whence.store.connection.engine import open_store

PATH = "/api/v2/policies/evaluation"
POLICIES = """\
version: 1
policies:
  - name: no addresses
    reason: the contract forbids it
    owner: privacy
    forbid: {kind: column, label: pii>=pseudonymous}
"""
Ask = Callable[[dict[str, str], Any], Any]


@pytest.fixture
def story(house: Callable[..., House]) -> House:
    made = house()
    engine = open_store(made.settings.store_url)
    apply_bodies(engine, BODIES)
    engine.dispose()
    return made


def answers(story: House, *asked: tuple[dict[str, str], Any]) -> list[httpx.Response]:
    found = []

    async def work(client: httpx.AsyncClient, _: FastAPI) -> None:
        found.extend([await client.post(PATH, headers=key, json=body) for key, body in asked])

    story.run(work)
    return found


def violations(answer: httpx.Response, outcome: str = "violated") -> set[str]:
    assert answer.status_code == 200, answer.text
    return {one["node"] for one in answer.json()["data"]["findings"] if one["outcome"] == outcome}


def test_each_viewer_is_told_of_their_nodes(story: House) -> None:
    everything = story.key("ada", Role.READER)
    staging, reports = (story.key(name, Role.READER, f"{name}://*") for name in ("s3", "bi"))
    whole, of_lake, of_reports = answers(
        story, *((key, {"policies": POLICIES}) for key in (everything, staging, reports))
    )
    copied = {str(of(CRM, "email")), str(of(USERS, "contact")), str(of(STAGING, "contact"))}
    assert copied | {str(of(REPORT, "one_contact"))} <= violations(whole)
    assert (whole.json()["data"]["hidden"], whole.json()["data"]["complete"]) == (0, True)
    assert copied <= violations(of_lake)
    assert not {one for one in violations(of_lake) if str(REPORT) in one}
    # Whoever sees the reports alone is not told what is in them, but that it is not known.
    assert violations(of_reports) == set()
    assert str(of(REPORT, "one_contact")) in violations(of_reports, "not evaluated")
    data = of_reports.json()["data"]
    assert (data["outcome"], data["hidden"] > 0) == ("not evaluated", True)
    for name in (CRM.name, USERS.name, FEATURES.name, "email", "s3:"):
        assert name not in of_reports.text
    assert all("may not be seen" in one["unknown"] for one in data["findings"])


def test_findings_are_limited_and_counted(story: House) -> None:
    ada = story.key("ada", Role.READER)
    (all_, two) = answers(story, (ada, {"policies": POLICIES}), (ada, {"policies": POLICIES, "limit": 2}))
    assert two.json()["data"] == {**all_.json()["data"], "findings": all_.json()["data"]["findings"][:2]}
    assert all_.json()["data"]["total"] == len(all_.json()["data"]["findings"]) > 2


def test_a_proposal_is_judged_and_what_is_new_is_listed(story: House) -> None:
    ada = story.key("ada", Role.READER)
    target = of(DEV, "mail")
    edge = {"source": str(of(USERS, "contact")), "target": str(target), "type": "DIRECT", "subtype": "IDENTITY"}
    gone = [[str(of(USERS, "contact")), str(of(STAGING, "contact"))]]
    asked = ({"edges": [edge], "gone": gone}, {"gone": gone}, {"edges": [{**edge, "source": "job:prod:load"}]})
    new, nothing, wrong = answers(story, *((ada, {"policies": POLICIES, "proposal": one}) for one in asked))
    (one,) = new.json()["data"]["findings"]
    assert (one["node"], one["path"][0]) == (str(target), str(of(CRM, "email")))
    assert nothing.json()["data"]["findings"] == []
    assert (wrong.status_code, wrong.json()["pointer"]) == (422, "/proposal")


def test_the_past_is_judged(story: House) -> None:
    ada = story.key("ada", Role.READER)
    (past,) = answers(story, (ada, {"policies": POLICIES, "as_of": "1970-01-01T03:30:00Z"}))
    assert str(of(USERS, "contact")) in violations(past)
    assert str(of(STAGING, "contact")) not in violations(past)
    assert past.json()["data"]["as_of"] == "1970-01-01T03:30:00Z"


HEAD = POLICIES.rpartition("    forbid")[0]
LISTS = "".join(f"    x{one}: &x{one} [{', '.join([f'*x{one - 1}'] * 9)}]\n" for one in range(1, 9))


MISTAKES = (
    (HEAD + "    forbid: {kidn: column}\n", "team/p.yaml:6: no key 'kidn' belongs here; did you mean 'kind'?"),
    (HEAD + "    forbid: &a {reads: *a}\n", "team/p.yaml:6: the value contains itself"),
    (HEAD + "    forbid: " + "{reads: " * 10 + "{tag: x}" + "}" * 10, "team/p.yaml:6: conditions are nested 8"),
    (HEAD + "    forbid: " + "{reads: " * 600 + "}" * 600, "team/p.yaml:"),
    (HEAD + '    forbid: {tag: "\\ud800"}\n', "team/p.yaml:6: the text has half of a character"),
    (HEAD + f"    forbid: {{tier: {'1' * 5_000}}}\n", "team/p.yaml:6: the number is too large"),
    (f"{HEAD}    x0: &x0 [a]\n{LISTS}", "team/p.yaml:12: the aliases repeat too much"),
    ("\0", "team/p.yaml:1: it is not YAML"),
)


def test_a_mistake_is_refused_with_its_line(story: House) -> None:
    ada = story.key("ada", Role.READER)
    refused = answers(story, *((ada, {"policies": text, "file": "team/p.yaml"}) for text, _ in MISTAKES))
    for answer, (_, reason) in zip(refused, MISTAKES, strict=True):
        assert (answer.status_code, answer.json()["pointer"]) == (422, "/policies"), reason
        assert answer.json()["reason"].startswith(reason), answer.text


def test_it_only_reads(story: House) -> None:
    reads = story.key("reads", Role.READER, scopes=frozenset({Action.READ}))
    writes = story.key("writes", Role.WRITER, scopes=frozenset(SCOPES) - {Action.READ})
    body = {"policies": POLICIES}
    assert [one.status_code for one in answers(story, (reads, body), (writes, body), ({}, body))] == [200, 403, 401]
    (entry,) = [one for one in story.audited() if one.who == "key:reads"]
    assert (entry.action, entry.what) == ("read", f"POST {PATH}")
