// Units that the page data mix: rates of memory are in GiB/s, slopes of roofs in GB/s. Pure.

/** Gibibytes in a gigabyte (1e9). */
export const GIB_PER_GB = 1e9 / 2 ** 30;
