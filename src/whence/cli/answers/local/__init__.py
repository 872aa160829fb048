"""Answers from a store on this machine."""
