"""The state of a circuit breaker, by its sentences in the reference, over random incidents and scopes."""

import random
from dataclasses import replace

from govern.incidents.random_incidents import RULES, act, dataset, random_estate
from whence.govern.breakers.breaker import BreakerState, Known, judge_breaker
from whence.govern.incidents.fold import fold_incidents
from whence.model.graph import Grain
from whence.model.ids import node_id
from whence.query.answers.values import Completeness
from whence.query.history.changes.scope import Scope

WHOLE = Completeness(
    complete=True, stopped_by=None, depth_reached=3, frontier=(), frontier_nodes=0, as_of=None, graph_version="1"
)
AT = 20


def test_it_is_open_by_the_findings_that_go_on_at_what_is_read_and_are_not_excused() -> None:
    seen = set[BreakerState]()
    for seed in range(300):
        chance, estate = random.Random(seed), random_estate(seed)
        findings = [replace(one, column=chance.choice(("", "A", "b"))) for one in estate.findings if one.since <= AT]
        known = [replace(one, until=one.until if one.until and one.until <= AT else None) for one in findings]
        acts = [act(one, "mitigate", chance.randrange(AT)) for one in known if chance.random() < 0.3]
        incidents = fold_incidents(known, estate.relation, acts, None, RULES)
        read = {number: chance.choice((None, frozenset({"a"}))) for number in range(12) if chance.random() < 0.4}
        scope = Scope(
            root=dataset(0),
            grain=Grain.DATASET,
            completeness=WHOLE,
            columns={node_id(dataset(number)): columns for number, columns in read.items()},
            names={node_id(dataset(number)): dataset(number) for number in read},
            distances={node_id(dataset(number)): number for number in read},
            edge_ends=frozenset(),
            not_known=(),
        )
        watched = {node_id(dataset(number)) for number in read if chance.random() < 0.5}
        found = judge_breaker(scope, Known(at=AT, incidents=incidents, are_all=True, watched=watched))
        expected, excused = set[str](), 0
        for incident in incidents:
            last = max((place for place, one in enumerate(incident.changes) if one.state != "mitigated"), default=-1)
            since = incident.changes[last + 1].time if incident.state == "mitigated" else -1
            for one in incident.findings:
                number = next(each for each in range(12) if dataset(each) == one.dataset)
                is_read = number in read and (read[number] is None or one.column.lower() in ("", "a"))
                if is_read and one.until is None and one.since < AT + 1:
                    if incident.state == "mitigated" and one.since <= since:
                        excused += 1
                    else:
                        expected.add(one.id)
        assert {one.finding.id for one in found.reasons} == expected, seed
        assert (found.excused, found.datasets, len(found.unwatched)) == (excused, len(read), len(read) - len(watched))
        state = BreakerState.OPEN if expected else BreakerState.CLOSED if watched else BreakerState.UNKNOWN
        assert found.state is state, seed
        seen.add(state)
    assert len(seen) == 3
