"""The profile's page before any script has run: its charts, words and first rows, from its data.

Everything here reads the page data (docs/page-data.md) in the state in which a page opens, so that
the browser, which reads the same data, draws the same.
"""
