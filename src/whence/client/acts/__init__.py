"""Questions and acts of one subject each, with their values: certification, incidents, objectives, reports, tags."""
