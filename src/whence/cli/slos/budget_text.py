"""An error budget as text."""

from whence.client.acts.slos import SloBudget

_HOUR = 3_600


def budget_text(budget: SloBudget) -> str:
    """How much of a budget was bad, and what is left of it."""
    if budget.budgeting_method == "Timeslices":
        bad, allowed, total = (part / _HOUR for part in (budget.bad, budget.allowed, budget.total))
        text = f"budget: {bad:.2f} of {allowed:.2f} h bad, in {total:.2f} open hours"
    else:
        text = f"budget: {budget.bad:.0f} of {budget.allowed:.0f} bad, in {budget.total:.0f} occurrences"
    suppressed = f"; {budget.suppressed_share:.1%} of the time window is suppressed" if budget.suppressed else ""
    return f"{text}; {remaining_text(budget)}{suppressed}"


def remaining_text(budget: SloBudget) -> str:
    """What is left of a budget, or by how much it is overdrawn."""
    if budget.remaining is None:
        return "nothing may be bad"
    return f"{budget.remaining:.1%} left" if budget.remaining >= 0 else f"overdrawn by {-budget.remaining:.1%}"
