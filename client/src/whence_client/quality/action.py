"""The action of a checkpoint that reports its validations, for programs that nobody starts with `whence run`.

    checkpoint = gx.Checkpoint(name="orders", validation_definitions=[...], actions=[WhenceAction()])

Great Expectations must be installed where this module is imported.
"""

from __future__ import annotations

from typing import Any, Literal

from great_expectations.checkpoint import ValidationAction

from whence_client.captures.session import process_session
from whence_client.quality.great_expectations import Reporter, capture, is_installed


class WhenceAction(ValidationAction):  # type: ignore[misc] # Great Expectations is not installed where types are checked
    """Sends what a checkpoint found. It never fails a checkpoint, and does nothing where `whence run` reports already.

    Great Expectations does not give actions the frames that were checked: only tables and files are known here.
    """

    type: Literal["whence"] = "whence"
    name: str = "whence"

    def run(self, checkpoint_result: Any, action_context: Any = None) -> dict[str, Any]:
        """Report each validation of the checkpoint."""
        guard = process_session().guard(capture.name)
        if not is_installed():
            guard.run("action", _report, checkpoint_result)
        return {"events": 0 if is_installed() else len(checkpoint_result.run_results)}


def _report(checkpoint_result: Any) -> None:
    reporter = Reporter(process_session())
    definitions = {str(one.id): one for one in checkpoint_result.checkpoint_config.validation_definitions}
    for result in checkpoint_result.run_results.values():
        reporter.report(definitions[str(result.meta["validation_id"])], result)
