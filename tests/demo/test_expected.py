"""The hand-written expectation agrees with itself: its single steps compose to its raw columns."""

import pytest

from demo.expected import IMPACT_OF_LAST_LOGIN, PREDICTIONS, STEPS, Variant, origins

VARIANTS: tuple[Variant, ...] = ("first", "altered")


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_steps_lead_to_the_raw_columns(variant: Variant) -> None:
    steps = STEPS[variant]
    found = {column: origins(steps, f"gold/predictions.{column}") for column in PREDICTIONS[variant]}
    assert found == PREDICTIONS[variant]
    assert set(steps["gold/predictions"].direct) == set(PREDICTIONS[variant])


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_impact_of_one_column_is_the_inverse(variant: Variant) -> None:
    steps = STEPS[variant]
    columns = [f"{dataset}.{column}" for dataset, step in steps.items() for column in step.direct | step.indirect]
    touched = {
        name
        for name in columns
        if "raw/usage_logs.last_login" in origins(steps, name).direct | origins(steps, name).indirect
    }
    assert touched == IMPACT_OF_LAST_LOGIN


def test_the_altered_join_is_visible_in_the_score() -> None:
    before, after = (PREDICTIONS[variant]["churn_probability"] for variant in VARIANTS)
    assert after.direct - before.direct == {"raw/support_tickets.opened_at"}
    assert after.indirect - before.indirect == {"raw/support_tickets.severity"}
