"""Values of certification, incidents and reports, and of plans and acts on other systems."""
