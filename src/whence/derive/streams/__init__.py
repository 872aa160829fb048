"""Streams: what derives the records of a log as they arrive, in micro-batches."""
