"""JSON: decoding within limits, canonical form, times, interning of repeated parts."""
