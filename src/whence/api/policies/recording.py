"""Evaluates the declared policies and rules of certification of a store, and which transitions are to be recorded."""

from sqlalchemy import Engine

from whence.api.operations.recording import TransitionRecording
from whence.govern.rule_states.current import EvaluatedRules, evaluate_rules
from whence.store.connection.lock import hold_rules_lock
from whence.store.security.database import write_security
from whence.store.security.restrictions import replace_restrictions
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph

RuleRecording = TransitionRecording[EvaluatedRules]
"""Evaluates declared rules and records their transitions while the server runs."""


def evaluate_declared_rules(engine: Engine, now: int, security: Engine | None = None) -> EvaluatedRules:
    """Evaluate all declared rules, and hide in a security database what policies hide from readers. Raises StoreError;
    StoreBusyError if another instance does.
    """
    with hold_rules_lock(engine), snapshot(engine) as connection:
        found = evaluate_rules(StoreCatalog(connection), StoreGraph(connection), now)
        if security is not None and found.restrictions is not None:
            with write_security(security) as access:
                replace_restrictions(access, found.restrictions)
    return found
