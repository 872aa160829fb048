"""Pending assertions: durable in the log, but not yet in the store; and snapshots that include them."""
