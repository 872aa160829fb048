"""Evaluation of service level objectives: pure functions of objectives, facts and a time."""
