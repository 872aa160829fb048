"""Forges, as GitHub and GitLab: the pull request that a pipeline runs for, and what the gate writes there."""
