"""The expected cost of an op of known shape on a part: FLOPs, bytes, clocks, bound."""
