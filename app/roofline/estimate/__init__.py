"""What an op of known shape should cost on a part: FLOPs, bytes, clocks, bound."""
