"""Values of certification, incidents, reports and tags, and of plans and acts on other systems."""
