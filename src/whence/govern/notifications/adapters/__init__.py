"""Sending: one adapter for each kind of receiver. Delivering an act twice has the effect of delivering it once."""
