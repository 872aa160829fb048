"""The HTTP surface: collects events, answers questions. Thin; the only place that knows FastAPI."""
