"""Which orchestrator pauses what of a plan, and what starts jobs that do not report it: pure functions of rules."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from whence.client.acts.containment import ContainmentPlan, DependentJob, ScheduleToPause
from whence.govern.containment.orchestrators_file import OrchestratorRule
from whence.govern.containment.steps import Target
from whence.model.access import matches_pattern
from whence.model.names import parse_node

_WEBHOOK = "webhook"
NO_ORCHESTRATOR = "no orchestrator is named for it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A target with the rule of its orchestrator; None, with a reason, if nothing may pause it."""

    target: Target
    rule: OrchestratorRule | None
    reason: str = ""
    running: bool = False


def add_schedules(plan: ContainmentPlan, rules: Sequence[OrchestratorRule]) -> ContainmentPlan:
    """The plan with the schedules that rules have for jobs of which none is known.

    The first rule counts that names the job, or what contained its run. Else a webhook of its namespace is told of the
    outermost job.
    """
    found = {one.node: schedule for one in plan.jobs if not one.schedules and (schedule := _schedule_of(one, rules))}
    jobs = tuple(_with_schedule(one, found.get(one.node)) for one in plan.jobs)
    distances = {one.node: one.distance for one in plan.jobs}
    added = _grouped(found, distances, [one for one in plan.jobs if _runs(one)])
    schedules = sorted((*plan.schedules, *added), key=lambda one: (one.distance, one.schedule))
    return msgspec.structs.replace(plan, jobs=jobs, schedules=tuple(schedules))


def assign(targets: Iterable[tuple[Target, bool]], rules: Sequence[OrchestratorRule]) -> Sequence[Assigned]:
    """The orchestrator of each target. (target, whether a run of it goes on)"""
    return [_assign(target, rules, running=running) for target, running in targets]


def targets_of(plan: ContainmentPlan) -> Sequence[tuple[Target, bool]]:
    """The targets of a plan, in its order."""
    return [(Target(one.system, one.namespace, one.id), one.running) for one in plan.schedules]


def _assign(target: Target, rules: Sequence[OrchestratorRule], *, running: bool = False) -> Assigned:
    fitting = [one for one in rules if one.type == target.system and one.starts_in(target.namespace)]
    fitting += [one for one in rules if one.type == _WEBHOOK != target.system and one.starts_in(target.namespace)]
    if not fitting:
        return Assigned(target=target, rule=None, reason=NO_ORCHESTRATOR, running=running)
    allowing = next((one for one in fitting if one.is_allowed(target.id)), None)
    reason = "" if allowing else f"{fitting[0].name} may not pause it: may_pause"
    return Assigned(target=target, rule=allowing, reason=reason, running=running)


def _schedule_of(one: DependentJob, rules: Sequence[OrchestratorRule]) -> Target | None:
    outermost = parse_node(one.outermost)
    namespace = outermost.namespace if outermost and hasattr(outermost, "namespace") else ""
    for rule in rules:
        for job in rule.jobs:
            if rule.starts_in(namespace) and any(matches_pattern(job.job, node) for node in (one.node, one.outermost)):
                return Target(rule.type, namespace, job.id)
    if any(rule.type == _WEBHOOK and rule.starts_in(namespace) for rule in rules):
        return Target(_WEBHOOK, namespace, one.outermost)
    return None


def _with_schedule(one: DependentJob, target: Target | None) -> DependentJob:
    if target is None:
        return one
    return msgspec.structs.replace(one, schedules=(":".join(target),), reason=None)


def _grouped(
    found: Mapping[str, Target], distances: Mapping[str, int], running: Sequence[DependentJob]
) -> Iterator[ScheduleToPause]:
    by_target: dict[Target, list[str]] = {}
    for job, target in found.items():
        by_target.setdefault(target, []).append(job)
    outermost = {one.node for one in running}
    for target, jobs in by_target.items():
        yield ScheduleToPause(
            schedule=":".join(target),
            **target._asdict(),
            job=jobs[0],
            distance=min(distances[job] for job in jobs),
            running=not outermost.isdisjoint(jobs),
            writes_root=False,
            jobs=tuple(sorted(jobs)),
        )


def _runs(one: DependentJob) -> bool:
    return one.last_run is not None and one.last_run.state in ("START", "RUNNING")
