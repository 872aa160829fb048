"""The work and output of administrative commands: keys, grants, audit, retention, backup, archive, log."""
