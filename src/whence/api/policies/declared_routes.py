"""Routes of declared policies (http-policies.md). `whence policy apply` declares them, as events."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from typing_extensions import TypedDict

from whence.api.auth.guard import Asker
from whence.api.catalog.assertions import now_micros
from whence.api.http.path_names import Plain
from whence.api.http.response_types import PageCursor
from whence.api.http.responses import MISSING
from whence.api.requests.catalog import NewestView
from whence.api.requests.pages import Cursor, PageLimit, after, cut, enveloped, window
from whence.errors import EventError
from whence.govern.certification.current import read_all_traits
from whence.govern.policies.documents import DeclaredPolicy, policy_row
from whence.govern.policies.records import held_policies
from whence.govern.rule_states.documents import (
    CurrentState,
    RuleStateRow,
    current_states,
    state_row,
    visible_states,
)
from whence.govern.rule_states.records import list_rule_transitions
from whence.model.records.rule_transitions import RuleKindText
from whence.query.answers.instants import past_instant

routes = APIRouter(prefix="/api/v2", tags=["policies"], responses=MISSING)


class PoliciesAnswer(TypedDict):
    """All policies that hold in namespaces that the caller may read."""

    data: list[DeclaredPolicy]
    page: None


@routes.get("/policies", response_model=PoliciesAnswer)
def list_policies(view: NewestView) -> Response:
    """List the declared policies that hold now, by namespace and name."""
    held = held_policies(view.whole, now_micros(), view.catalog)
    return enveloped(view, [policy_row(one, is_whole=view.visible_ids is None) for one in held])


class RuleStatesPage(TypedDict):
    """A page of states."""

    data: list[RuleStateRow]
    page: PageCursor


_KEY = (int, str)
_OPEN = ["violated", "not certified", "not evaluated"]
StateWord = Literal["ok", "violated", "ended", "certified", "not certified", "no rule", "not evaluated"]


@routes.get("/rule-states", response_model=RuleStatesPage)
def list_rule_states(
    view: NewestView,
    viewer: Asker,
    kind: Annotated[RuleKindText | None, Query(description="only of these rules")] = None,
    rule: Annotated[Plain, Query(description="only of the policy with this name")] = "",
    state: Annotated[list[StateWord], Query(description="only those in one of these states")] = _OPEN,  # type: ignore[assignment]
    lapsed: Annotated[bool, Query(description="only datasets that were certified before")] = False,
    as_of: Annotated[Plain | None, Query(description="at this time: `2026-11-20T06:00`, `2h ago`")] = None,
    limit: PageLimit = 100,
    cursor: Cursor = "",
) -> Response:
    """List what policies, rules of certification and lineage baselines say of datasets, the latest change first.

    A running server records each change within seconds; the state is that of the last recorded one.
    """
    transitions = list_rule_transitions(view.whole, _instant(as_of))
    wanted = [one for one in current_states(transitions) if one.last.record.after in state]
    chosen = [
        one
        for one in wanted
        if kind in (None, one.last.record.rule_kind)
        and rule in ("", one.last.record.rule)
        and (one.has_lapsed or not lapsed)
    ]
    rows = after(list(visible_states(chosen, viewer)), window(limit, cursor, _KEY), _order)
    shown, page = cut(rows, limit, _order)
    traits = read_all_traits(view.graph, list({one.last.dataset for one in shown}))
    return enveloped(view, [state_row(one, viewer, traits[one.last.dataset].owners) for one in shown], page)


def _order(one: CurrentState) -> tuple[int, str]:
    return one.order


def _instant(text: str | None) -> int:
    try:
        return now_micros() if text is None else past_instant(text, now_micros())
    except (ValueError, OverflowError) as error:
        raise EventError("/query/as_of", str(error), 400) from None
