"""What processes and pages take."""
