"""Notifications of incidents: what is sent to whom, in the form of each kind of receiver, and that it is sent."""
