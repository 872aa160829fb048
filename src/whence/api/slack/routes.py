"""`POST /api/v2/slack/commands`: a slash command that Slack signed, answered before Slack stops waiting, or later.

No key comes with it. The signature proves that Slack sends it for a person in a channel, and grants of these two say
what the answer may show. Both are ordinary subjects: `user:slack:<team>:<person>` and `group:slack:<team>:<channel>`.
"""

import asyncio
import time
from dataclasses import dataclass

import msgspec
from fastapi import APIRouter, Request, Response

from whence.api.auth.audit_log import AuditWriter
from whence.api.auth.guard import REFUSED
from whence.api.auth.permissions import needs
from whence.api.http.problems import problem
from whence.api.slack import messages
from whence.api.slack.answers import SlackAnswers
from whence.api.slack.commands import Command, Sent, Verb, parse, read_sent
from whence.api.slack.late_answers import LateAnswers
from whence.api.slack.signature import verify
from whence.errors import AccessError, WhenceError
from whence.govern.slack_blocks import Block, document
from whence.model.access import Action
from whence.store.security.audit import Entry

PATH = "/api/v2/slack/commands"
_WHAT = f"POST {PATH}"
_MOST_BYTES = 64 << 10
_LONGEST_NODE = 500
_SECONDS = 2.5
"""The time for an answer: Slack shows an error after three seconds."""


def router(secret: str, answers: SlackAnswers, late: LateAnswers, auditing: AuditWriter) -> APIRouter:
    """The route, for a server that knows the signing secret of an app. `late` must be closed with the server."""
    routes = APIRouter(include_in_schema=False)
    commands = _Commands(secret=secret, answers=answers, late=late, auditing=auditing)

    @routes.post(PATH)
    @needs(Action.PUBLIC)  # the signature, which covers the body, takes the place of a key
    async def answer_command(request: Request) -> Response:
        return await commands.answer(request)

    return routes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commands:
    secret: str
    answers: SlackAnswers
    late: LateAnswers
    auditing: AuditWriter

    async def answer(self, request: Request) -> Response:
        """Raises AccessError (401), EventError (400)."""
        body = await _read(request)
        if body is None:
            return problem(413, f"a slash command has at most {_MOST_BYTES:,} bytes")
        try:
            verify(self.secret, request.headers, body, _now())
        except AccessError:
            self.auditing.tally(Entry(at=_now(), who="nobody", action=REFUSED, what=_WHAT, count=1, status=401))
            raise
        sent = read_sent(body)
        command = parse(sent.text)
        if command.verb is Verb.HELP:
            return _reply(document(messages.help_message(sent.name, command.mistake)))
        return await self._in_time(request, sent, command)

    async def _in_time(self, request: Request, sent: Sent, command: Command) -> Response:
        pending = asyncio.ensure_future(self._answer(request, sent, command))
        done, _ = await asyncio.wait({pending}, timeout=_SECONDS)
        if done:
            return _reply(pending.result())
        is_sent_later = self.late.takes(sent.response_url)
        if is_sent_later:
            self.late.send(sent.response_url, pending)
        return _reply(document(messages.slow_message(command, self.answers.base, is_sent_later=is_sent_later)))

    async def _answer(self, request: Request, sent: Sent, command: Command) -> Block:
        """The answer, with the rights of its sender when it is asked for. It is audited once, when it is there."""
        try:
            self.auditing.check()
            message = await self.answers.answer(request, sent, command)
        except WhenceError as error:
            self._note(sent, command, 422)
            return document(messages.problem_message(error))
        self._note(sent, command, 200 if message else 403)
        if message is None:
            return document(messages.refusal_message(sent, command))
        return document(message, in_channel=command.share)

    def _note(self, sent: Sent, command: Command, status: int) -> None:
        self.auditing.note(
            Entry(
                at=_now(),
                who=sent.person_subject,
                action=REFUSED if status == 403 else str(Action.READ),
                what=f"{_WHAT} {command.verb}{' --share' if command.share else ''} in {sent.channel_group}",
                nodes=(command.node[:_LONGEST_NODE],),
                count=1,
                status=status,
            )
        )


async def _read(request: Request) -> bytes | None:
    """The body, or None if it is too large."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            return None
    return bytes(body)


def _reply(message: Block) -> Response:
    return Response(msgspec.json.encode(message), 200, {"Cache-Control": "no-store"}, "application/json")


def _now() -> int:
    return time.time_ns() // 1_000
