"""Incidents of a shop in production, and one whose names attack whatever shows them."""

from dataclasses import replace

from whence.govern.notifications.notice import Act, Detail, Link, Notice, Severity, State, Symptom
from whence.model.names import DatasetName

MINUTE = 60_000_000
NOW = 1_795_744_800_000_000
"""2026-11-27 02:00 UTC."""
ORDERS, REVENUE = DatasetName("postgres://prod", "shop.orders"), DatasetName("postgres://prod", "shop.revenue_daily")
STAGING = DatasetName("postgres://staging", "shop.orders")
EVIL = DatasetName(
    "postgres://prod",
    "<!channel> @everyone <@U024BE7LH> <b>x</b> `|` [x](https://evil.example) \x1b[31m\r\nBcc: a@evil.example \u202e'\""
    + "n" * 300,
)

OPEN = Notice(
    incident="5f1c0ffee5f1c0ff",
    transition="0123456789abcdef",
    state=State.OPEN,
    severity=Severity.PAGE,
    title="shop.orders is late since 01:18, 1 dataset downstream",
    root=ORDERS,
    at=NOW,
    since=NOW - 42 * MINUTE,
    symptoms=(
        Symptom(node=REVENUE, rule="shop/revenue-fresh", text="no write for 31 min", since=NOW - 31 * MINUTE),
        Symptom(node=ORDERS, rule="shop/orders-fresh", text="no write for 42 min", since=NOW - 42 * MINUTE),
    ),
    owners=("team:orders",),
    tier="1",
    domain="sales",
    details=(
        Detail(label="Last successful run", text="load_orders at 00:30, commit 1a2b3c4", nodes=(ORDERS,)),
        Detail(label="Downstream", text="3 dashboards: Revenue, Churn, Board"),
    ),
    links=(Link(title="Incident", path="/ui/incidents/5f1c0ffee5f1c0ff"), Link(title="Graph", path="/ui/lineage")),
    runbook="https://wiki.example.com/runbooks/orders",
    silence="whence incident silence 5f1c0ffee5f1c0ff --for 2h",
)
RESOLVED = replace(
    OPEN,
    transition="fedcba9876543210",
    state=State.RESOLVED,
    at=NOW + 20 * MINUTE,
    resolved_at=NOW + 20 * MINUTE,
    symptoms=tuple(replace(one, until=NOW + 20 * MINUTE) for one in OPEN.symptoms),
)
HOSTILE = replace(
    OPEN,
    title=f"{EVIL.name} is late",
    root=EVIL,
    symptoms=(Symptom(node=EVIL, rule=EVIL.name, text=EVIL.name, since=NOW - MINUTE),),
    owners=(EVIL.name,),
    tier=EVIL.name,
    domain=EVIL.name,
    details=(Detail(label=EVIL.name, text=EVIL.name),),
    runbook=f"https://wiki.example.com/{EVIL.name}",
)


def act(notice: Notice, receiver: str = "orders", **changed: object) -> Act:
    """The first act of an incident, or a later one."""
    return replace(Act(notice=notice, receiver=receiver), **changed)  # type: ignore[arg-type]  # checked by the class


def storm(symptoms: int, notice: Notice = OPEN) -> Notice:
    """An incident with so many datasets downstream that are late, too."""
    end = notice.resolved_at
    below = tuple(
        Symptom(node=DatasetName("postgres://prod", f"mart.table_{number}"), rule="fresh", since=NOW, until=end)
        for number in range(symptoms)
    )
    root = Symptom(node=ORDERS, rule="shop/orders-fresh", since=NOW - 42 * MINUTE, until=end)
    return replace(notice, symptoms=(root, *below))
