"""HLO modules inside XSpace captures, and what their instructions cost."""
