"""Runs of many hosts: a partial per host, an exact reduce, and which host is slow.

A partial is what one host's file adds to the run, as columns of integers (`partial`). The reduce is
a pure function of the set of partials: their order, batches and repetitions cannot change a byte
(`reduce`). Definitions: `docs/runs-definitions.md`.
"""
