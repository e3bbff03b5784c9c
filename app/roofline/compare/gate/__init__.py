"""The gate of CI: a run against a baseline and a budget. Exact numbers are hard, times are not."""
