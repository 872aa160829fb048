"""Game days: faults that are injected into a copy of a store, and what Whence is expected to find out about them."""
