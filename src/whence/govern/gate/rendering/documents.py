"""A judgement as one JSON document: the shape of `whence gate --output json` (docs/reference/gate.md)."""

from typing import Any

from whence.govern.gate.impact import is_hidden
from whence.govern.gate.judgement import JudgedChange, Judgement
from whence.govern.gate.rendering.names import HIDDEN_NAME
from whence.govern.gate.rendering.summary import Hit, Summary
from whence.model.changes import ExampleRows, Trial
from whence.model.names import FieldName, Node

Json = dict[str, Any]


def judgement_document(judgement: Judgement, summary: Summary) -> Json:
    """The verdict, the changes, what they affect, and what is needed to pass."""
    return {
        "verdict": judgement.verdict.text,
        "commit": judgement.head.commit or None,
        "reviewed": judgement.head.reviewed or None,
        "base": judgement.head.base or None,
        "graph_version": judgement.graph_version,
        "changes": [_change(one) for one in judgement.changes],
        "affected": [_hit(one) for one in summary.hits],
        "hidden": summary.hidden,
        "required_approvals": [
            {
                "owner": one.owner or None,
                "people": list(one.people),
                "approved_by": one.approved_by or None,
                "changes": list(one.changes),
            }
            for one in judgement.required
        ],
        "stale_approvals": [{"person": one.person, "commit": one.commit} for one in judgement.stale],
        "expired_waivers": [
            {"change": one.change, "expires": one.expires.isoformat(), "owner": one.owner} for one in judgement.lapsed
        ],
        "skipped": judgement.skipped,
        "unjudged": list(judgement.unjudged.files),
        "notices": list(judgement.notices),
    }


def _change(one: JudgedChange) -> Json:
    change, waiver = one.change, one.waiver
    subject = change.dataset if change.column is None else FieldName(change.dataset, change.column)
    return {
        "id": one.id,
        "node": _name(subject),
        "kind": change.kind.value,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
        "file": change.file,
        "line": change.line,
        "new_rows_only": change.new_rows_only,
        **({"trial": _trial(change.trial)} if change.trial is not None else {}),
        "verdict": one.verdict.text,
        "why": [
            {
                "rule": reason.rule,
                "text": reason.text,
                "verdict": reason.verdict.text,
                "nodes": [_name(node) for node in reason.nodes],
            }
            for reason in one.reasons
        ],
        "waiver": waiver and {"reason": waiver.reason, "owner": waiver.owner, "expires": waiver.expires.isoformat()},
        "affected": len(one.impact.subjects),
        "incomplete": one.impact.incomplete or None,
    }


def _trial(trial: Trial) -> Json:
    return {
        "text": trial.text,
        "databases": trial.databases,
        "untried": trial.untried or None,
        "inputs": [_rows(one) for one in trial.inputs],
        "before": trial.before and _rows(trial.before),
        "after": trial.after and _rows(trial.after),
    }


def _rows(rows: ExampleRows) -> Json:
    return {"table": rows.table, "columns": list(rows.columns), "rows": [list(row) for row in rows.rows]}


def without_trials(document: Json) -> Json:
    """The same with what trials showed as a part of the reasons: a record has no other place for it."""
    return {**document, "changes": [_with_trial_text(one) for one in document["changes"]]}


def _with_trial_text(change: Json) -> Json:
    kept = {name: value for name, value in change.items() if name != "trial"}
    text = change.get("trial", {}).get("text", "")
    return {**kept, "reason": "; ".join(filter(None, (change["reason"], text)))}


def _hit(hit: Hit) -> Json:
    return {
        "node": str(hit.subject),
        "kind": hit.kind,
        "by": hit.nearest.reach.text,
        "distance": hit.nearest.distance,
        "path": [_name(node) for node in hit.nearest.path],
        "owners": list(hit.facts.owners),
        "tier": hit.facts.tier,
        "certified": hit.facts.certified,
        "contract": hit.facts.contract or None,
        "changes": list(hit.changes),
    }


def _name(node: Node) -> str:
    return HIDDEN_NAME if is_hidden(node) else str(node)
