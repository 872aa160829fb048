"""Values of incidents, and of plans and acts on other systems."""
