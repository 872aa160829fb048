"""Scripts: statement by statement, with the session state between them."""
