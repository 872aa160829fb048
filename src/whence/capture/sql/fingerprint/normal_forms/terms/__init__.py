"""What is known of a value: that it is a literal, a whole number, a day or NULL."""
