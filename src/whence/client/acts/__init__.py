"""Values of plans and acts on other systems."""
