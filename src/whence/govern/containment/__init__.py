"""Containment: what starts the jobs that depend on broken data, paused and resumed; and what is to run again."""
