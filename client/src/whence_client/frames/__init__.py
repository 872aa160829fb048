"""Attach captures of data frames in the job's own process: what a frame descends from, and the events of its writes."""
