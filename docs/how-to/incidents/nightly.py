"""A night in a shop: orders are loaded, revenue is built from them, a dashboard is drawn; then the load fails."""

import whence_client as whence

DB = "postgresql://db/shop"
ORDERS, REVENUE, BOARD = (whence.table(DB, name) for name in ("orders", "revenue", "board"))


def main() -> None:
    """Report the runs."""
    with whence.run("load_orders") as run:
        run.reads("s3://lake/raw/orders")
        run.writes(ORDERS)
    with whence.run("build_revenue") as run:
        run.reads(ORDERS)
        run.writes(REVENUE)
    with whence.run("draw_board") as run:
        run.reads(REVENUE)
        run.writes(BOARD)
    for job in (("load_orders", ORDERS), ("build_revenue", REVENUE)):
        fail(*job)


def fail(name: str, output: whence.Dataset) -> None:
    """A run that fails."""
    try:
        with whence.run(name) as run:
            run.writes(output)
            raise ConnectionError("the source does not answer")
    except ConnectionError:
        pass


main()
