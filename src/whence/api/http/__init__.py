"""HTTP parts that all routes share: errors, names in paths, responses, envelopes, types, rate limits."""
