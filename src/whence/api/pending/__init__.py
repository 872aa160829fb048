"""Assertions that are durable in the log and not yet in the store, and answers that take them into account."""
