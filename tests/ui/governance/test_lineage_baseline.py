"""The accepted lineage on the page of a dataset."""

from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import FEATURES, PREDICTIONS


def test_the_page_of_a_dataset_says_whether_its_lineage_is_the_accepted_one(screen: Screen) -> None:
    screen.open("node", node=str(FEATURES))
    accepted = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Accepted lineage"))
    expect(accepted).to_contain_text("as accepted")
    expect(accepted).to_contain_text("Accepted by ada")
    expect(accepted).to_contain_text("reviewed")
    screen.open("node", node=str(PREDICTIONS))
    expect(screen.page.get_by_role("heading", name="Schema")).to_be_visible()
    expect(screen.page.get_by_role("heading", name="Accepted lineage")).to_have_count(0)
