"""Sensitive data on the screen: the lens over the graph, the way of a label, the columns of a page, the search."""

from playwright.sync_api import expect

from ui.conftest import Screen
from ui.stories.datasets import CLEAN, CUSTOMERS
from ui.stories.rules import DECK
from whence.model.names import FieldName

HASH = str(FieldName(CLEAN, "email_hash"))


def test_the_lens_marks_datasets_and_columns_and_a_click_shows_the_way(screen: Screen) -> None:
    screen.open("lineage", node=str(CLEAN), columns=str(CLEAN))
    screen.page.get_by_label("Lens").select_option("Personal data")
    box = screen.page.locator(f"[data-node='{CUSTOMERS}']")
    expect(box.locator(".box-mark")).to_have_text("full")
    own = screen.page.locator(f"[data-node='{CLEAN}']")
    expect(own.locator(".box-mark")).to_have_text("pseudonymous")
    expect(screen.page.locator(".legend").first).to_contain_text("not known")
    own.get_by_role("button", name="email_hash").click()
    panel = screen.page.get_by_role("complementary", name="Personal data in a column")
    expect(panel).to_contain_text("That is still personal data.")
    expect(panel.get_by_role("listitem").first).to_contain_text("customers.email")
    panel.locator("summary").filter(has_text="sha2(lower(email), 256)").click()
    expect(panel).to_contain_text("clean_customers")
    assert "lens=pii" in screen.page.url
    assert "panel=label" in screen.page.url


def test_columns_of_which_nobody_reported_a_schema_are_marked_too(screen: Screen) -> None:
    screen.open("lineage", node=str(DECK), columns=str(DECK))
    box = screen.page.locator(f"[data-node='{DECK}']")
    expect(box).to_contain_text("amount")
    screen.page.get_by_label("Lens").select_option("Financial data")
    box.get_by_role("button", name="amount").click()
    panel = screen.page.get_by_role("complementary", name="Financial data in a column")
    expect(panel.get_by_role("listitem").first).to_contain_text("invoices.amount")


def test_the_page_of_a_dataset_without_a_schema_has_the_columns_of_its_lineage(screen: Screen) -> None:
    screen.open("node", node=str(DECK))
    schema = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Schema"))
    expect(schema).to_contain_text("Nobody reported a schema.")
    expect(schema.get_by_role("row").filter(has_text="amount")).to_contain_text("statistic")


def test_the_page_of_a_dataset_has_grades_and_where_its_data_goes(screen: Screen) -> None:
    screen.open("node", node=str(CLEAN))
    row = screen.page.get_by_role("row").filter(has_text="email_hash")
    expect(row.get_by_role("link", name="Personal data")).to_contain_text("pseudonymous")
    screen.open("node", node=str(CUSTOMERS))
    goes = screen.page.locator("section").filter(has=screen.page.get_by_role("heading", name="Where its data goes"))
    expect(goes.get_by_role("listitem").filter(has_text="email_hash")).to_contain_text("pseudonymous")
    with screen.page.expect_download() as download:
        goes.get_by_role("link", name="Download as CSV").click()
    rows = download.value.path().read_text("utf-8").splitlines()
    assert rows[0] == "node,category,grade,assumed,proven,source,path,steps"
    assert any(HASH in row and "pseudonymous" in row for row in rows[1:])


def test_the_list_has_the_marks_as_words(screen: Screen) -> None:
    screen.open("lineage", node=str(CLEAN), lens="pii", view="list")
    expect(screen.page.get_by_role("button", name="email_hash pseudonymous")).to_be_visible()


def test_labels_are_searched_for(screen: Screen) -> None:
    screen.open("lineage", node=str(CLEAN))
    screen.page.get_by_role("button", name="Search datasets, columns and jobs").click()
    screen.page.get_by_role("combobox", name="Name of a dataset").fill("label:pii>=pseudonymous email")
    found = screen.page.get_by_role("option").filter(has_text="email_hash")
    expect(found).to_contain_text("pii pseudonymous")
    screen.page.get_by_role("combobox", name="Name of a dataset").fill("label:pii>=hashed")
    expect(screen.page.locator(".palette-foot")).to_contain_text("no grade")
    # The browser reports the refused request, as it should.
    assert all("422" in one for one in screen.complaints)
    screen.complaints.clear()
