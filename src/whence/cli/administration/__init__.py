"""What administrative commands do and print: keys, grants, audit, retention, backup, archive, log."""
