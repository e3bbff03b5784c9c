"""The subject of a page: the step, capture or kernels that all of its numbers are of."""
