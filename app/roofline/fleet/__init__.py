"""The hosts of a run read side by side: on this machine, or by the workers of a Dask cluster.

An engine (`engine.Engine`) reads files to kept partials (`kept`) and gives a receipt for each file
(`receipts`); partials themselves never travel. A file is read by a child without network, secrets
and with limits (`readers`). `reduce` makes the report from receipts. Both engines and any order
give the same bytes.
"""
