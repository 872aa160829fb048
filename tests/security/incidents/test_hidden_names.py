"""In random estates under random grants, nothing that is shown of incidents contains a word of a hidden name.

Every dataset and job is a word of its own; texts of people and of runs contain the words of others.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whence.govern.incidents.current import ReadIncidents
from whence.govern.incidents.documents import (
    act_document,
    change_document,
    finding_document,
    is_visible,
    list_document,
)
from whence.govern.incidents.findings import Finding, FindingKind, finding_id
from whence.govern.incidents.fold import fold_incidents
from whence.govern.incidents.incident import Act as PersonAct
from whence.govern.incidents.incident import Incident, UpstreamRelation
from whence.govern.incidents.recording import find_new_transitions
from whence.govern.notifications.incident_notices import find_merges, notices_of
from whence.govern.notifications.notice import Act, Notice
from whence.govern.notifications.rendering import alertmanager, github, mail, pagerduty, slack, webhook
from whence.model.access import Grant, Role, Viewer
from whence.model.names import DatasetName, JobName, RunName
from whence.model.records.incidents import IncidentActRecord
from whence.model.traits import NO_TRAITS

HOUR = 3_600_000_000
AT = 20_000 * 24 * HOUR
SPACES = ("nsprod", "nsstaging", "nsdev", "nshr")
ESTATES = 1_000


@dataclass(frozen=True)
class Estate:
    """Findings of datasets, their lineage, and what people did; the words of each namespace."""

    findings: tuple[Finding, ...]
    relation: UpstreamRelation
    acts: tuple[PersonAct, ...]
    words: dict[str, set[str]]


def random_estate(rng: random.Random) -> Estate:
    words = {one: {one} for one in SPACES}

    def named(kind: str, number: int) -> tuple[str, str]:
        space, word = rng.choice(SPACES), f"{kind}{number}q"
        words[space].add(word)
        return space, word

    datasets = [DatasetName(*named("tbl", number)) for number in range(7)]
    jobs = [JobName(*named("job", number)) for number in range(4)]
    text = f"compare {rng.choice(datasets)} and {rng.choice(jobs)}"
    findings = tuple(_finding(rng, number, rng.choice(datasets), rng.choice(jobs), text) for number in range(6))
    upstream = {
        one: frozenset(rng.sample(datasets[:place], rng.randint(0, place))) for place, one in enumerate(datasets)
    }
    acts = []
    for number, one in enumerate(rng.sample(findings, 3)):
        cause = str(rng.choice([*datasets, *jobs]))
        kind, members = rng.choice(
            (("comment", {"text": text}), ("assign", {"assignee": text}), ("confirm", {"cause": cause}))
        )
        record = IncidentActRecord(incident=one.incident, dataset=str(one.dataset), act=kind, **members)  # type: ignore[arg-type]  # of any kind
        acts.append(
            PersonAct(id=f"{number}", time=AT - HOUR, namespace=one.dataset.namespace, person="ada", record=record)
        )
    return Estate(findings, UpstreamRelation(upstream=upstream), tuple(acts), words)


def _finding(rng: random.Random, number: int, name: DatasetName, job: JobName, text: str) -> Finding:
    kind = rng.choice((FindingKind.SLO, FindingKind.RUN, FindingKind.CHECK, FindingKind.CONTRACT))
    rules = {FindingKind.SLO: "shop/fresh", FindingKind.RUN: str(job)}
    rule = rules.get(kind, f"unique of {name.name}")
    since = AT - rng.randint(2, 20) * HOUR
    return Finding(
        id=finding_id(kind, name, str(number)),
        kind=kind,
        rule=rule,
        dataset=name,
        since=since,
        until=rng.choice((None, None, AT - HOUR)),
        ticket_since=since,
        page_since=rng.choice((None, since)),
        reason=text,
        run=str(RunName(f"01890000-0000-7000-8000-{number:012}", job)),
        source=rng.choice(("", f"{job} 1")),
    )


def test_no_document_contains_a_word_of_a_hidden_name() -> None:
    shown = 0
    for seed in range(ESTATES):
        rng = random.Random(seed)
        one = random_estate(rng)
        seen = frozenset(rng.sample(SPACES, rng.randint(0, 3)))
        hidden = {word for space in set(SPACES) - seen for word in one.words[space]}
        viewer = Viewer(name="key:eve", grants=tuple(Grant(Role.READER, space) for space in sorted(seen)))
        incidents = fold_incidents(one.findings, one.relation, one.acts)
        text = json.dumps(list(_documents(incidents, viewer)))
        assert not [word for word in hidden if word in text], seed
        shown += sum(word in text for space in seen for word in one.words[space])
    assert shown > ESTATES


def _documents(incidents: Sequence[Incident], viewer: Viewer) -> Iterator[object]:
    read = ReadIncidents(at=AT, incidents=incidents, transitions=(), are_all=True)
    visible = [one for one in incidents if is_visible(one, viewer)]
    yield list_document(read, visible, len(incidents) - len(visible), {}, viewer)
    for one in visible:
        yield [finding_document(each, viewer) for each in one.findings if viewer.can_see(each.dataset)]
        yield [change_document(each, viewer) for each in one.changes]
        yield [act_document(each, viewer) for each in one.acts]


def test_no_notification_contains_a_word_of_a_hidden_name() -> None:
    shown = 0
    for seed in range(ESTATES):
        rng = random.Random(seed)
        one = random_estate(rng)
        seen = sorted(rng.sample(SPACES, rng.randint(1, 3)))
        hidden = {word for space in set(SPACES) - set(seen) for word in one.words[space]}
        viewer = Viewer(name="receiver", grants=tuple(Grant(Role.READER, space) for space in seen))
        incidents = fold_incidents(one.findings, one.relation, one.acts)
        transitions = list(find_new_transitions(incidents, {}, AT, are_all=True))
        for incident in incidents:
            own = [each for each in transitions if each.record.incident == incident.id]
            found = notices_of(incident, own, find_merges(transitions), NO_TRAITS, AT)
            for notice in found.notices if found else ():
                text = "\n".join(_renderings(notice.seen_by(viewer)))
                assert not [word for word in hidden if word in text], (seed, notice.title)
                shown += sum(word in text for space in seen for word in one.words[space])
    assert shown > ESTATES


def _renderings(notice: Notice) -> Iterator[str]:
    """By every adapter, as the first message and as a later one."""
    first = Act(notice=notice, receiver="orders")
    for act in (first, replace(first, earlier=(notice,), reference="1")):
        yield json.dumps([slack.message(act), pagerduty.event(act), webhook.document(act)])
        yield from (github.title(act), github.body(act), github.comment(act), mail.text(act), mail.html(act))
    yield json.dumps(alertmanager.alerts(notice, AT))
