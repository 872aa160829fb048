"""Values of certification and incidents, and of plans and acts on other systems."""
