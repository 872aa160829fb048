"""What runs reported themselves: read from the events of each run in the log, not from the latest event of its job."""
