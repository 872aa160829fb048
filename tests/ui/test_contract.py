"""The contract of a dataset on its page: the version that holds, and what the reported columns lack of it."""

from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import CHARGES, PREDICTIONS


def test_a_dataset_shows_its_contract_and_what_violates_it(screen: Screen) -> None:
    screen.open("node", node=str(PREDICTIONS))
    shown = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Contract"))
    expect(shown).to_contain_text("churn-predictions · 1.2.0 · active · owned by ada")
    expect(shown).to_contain_text("customer_id: string is promised, reported as bigint")
    expect(shown).to_contain_text("model_version: any type is promised, not reported")
    expect(shown).to_contain_text("accepted_values: invalidValues mustBe 0 is promised")
    expect(shown).to_contain_text("1 rule holds.")
    shown.get_by_text("1 not evaluated").click()
    expect(shown).to_contain_text("retention: no run reports how long rows are kept")


def test_a_version_leads_to_the_contract_as_it_was(screen: Screen) -> None:
    screen.open("node", node=str(PREDICTIONS))
    shown = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Contract"))
    expect(shown.locator("ol")).to_contain_text("accepted_values violated")
    shown.get_by_role("link", name="version 1.1.0").click()
    expect(shown).to_contain_text("churn-predictions · 1.1.0 · active · owned by ada")
    expect(shown.locator("ol")).not_to_contain_text("accepted_values")
    shown.get_by_role("link", name="show now").click()
    expect(shown).to_contain_text("churn-predictions · 1.2.0")


def test_a_dataset_without_a_contract_has_no_such_part(screen: Screen) -> None:
    screen.open("node", node=str(CHARGES))
    expect(screen.page.get_by_role("heading", name="Owners")).to_be_visible()
    expect(screen.page.get_by_role("heading", name="Contract")).to_have_count(0)
