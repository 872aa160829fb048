"""HTTP as all routes share it: errors, names in paths, responses, envelopes, shapes, rate limits."""
