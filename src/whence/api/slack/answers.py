"""Answers to slash commands, with the rights of the person and the channel."""

from dataclasses import dataclass, replace

from fastapi import Request

from whence.api.auth.credentials import Caller, Credentials
from whence.api.auth.guard import identify
from whence.api.http.clock import now_of
from whence.api.requests.catalog import catalog_over, commit_reader, owner_reader
from whence.api.requests.graph import GraphRequests
from whence.api.slack import messages
from whence.api.slack.commands import Command, Sent, Verb
from whence.errors import EventError
from whence.govern.contracts.evaluation.histories import EvaluatedContracts
from whence.govern.slack_blocks import Message
from whence.model.access import Action, Viewer
from whence.query.answers.values import Question
from whence.query.history.changes.period import Period, read_period
from whence.query.history.changes.timeline import upstream_changes
from whence.query.lookup.resolve import resolve
from whence.query.questions.impact import impact
from whence.query.questions.lineage import reach_upstream
from whence.query.visibility.visible_ids import QuestionGraph
from whence.store.security.policy import Policy

_QUESTION = Question()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAnswers:
    """What answers need. `base`: where browsers find Whence; empty: not known."""

    credentials: Credentials
    requests: GraphRequests
    base: str

    async def answer(self, request: Request, sent: Sent, command: Command) -> Message | None:
        """The answer, or None for somebody without a grant. Raises StoreError, EventError, QuestionsBusyError, and the
        errors of questions.
        """
        policy = await self.credentials.policy()
        viewer = viewer_of(policy, sent, command)
        if not viewer.is_allowed(Action.READ):
            return None
        identify(request, Caller(viewer, policy.secret))
        period = _period(command.since, now_of(request))

        def ask(graph: QuestionGraph) -> Message:
            return _message(request, graph, command, period, self.base)

        return await self.requests.read(request, ask)


def viewer_of(policy: Policy, sent: Sent, command: Command) -> Viewer:
    """Who sees the answer: the person, with the grants of the channel, too. What the channel is to see has the grants
    of the channel alone, and hides what is hidden from either.
    """
    if not command.share:
        return policy.viewer(sent.person_subject, (sent.channel_group,))
    channel = policy.viewer(f"group:{sent.channel_group}")
    person = policy.viewer(sent.person_subject)
    return replace(
        channel,
        hidings=(*channel.hidings, *policy.hidings.get(sent.person_subject, ())),
        restrictions=(*channel.restrictions, *person.restrictions),
    )


def _message(request: Request, graph: QuestionGraph, command: Command, period: Period, base: str) -> Message:
    node = resolve(graph, command.node)
    match command.verb:
        case Verb.UPSTREAM:
            return messages.upstream_message(reach_upstream(graph, node, _QUESTION), base)
        case Verb.IMPACT:
            return messages.impact_message(impact(graph, node, _QUESTION), base)
    contracts = EvaluatedContracts(catalog_over(request, graph), graph)
    found = upstream_changes(
        graph,
        contracts,
        node,
        period,
        _QUESTION,
        read_commits=commit_reader(request, graph),
        read_owners=owner_reader(request, graph),
    )
    return messages.changes_message(found, base, command.since)


def _period(since: str, now: int) -> Period:
    try:
        return read_period(since, None, None, now)
    except (ValueError, OverflowError) as error:
        raise EventError("", str(error), 422) from None
