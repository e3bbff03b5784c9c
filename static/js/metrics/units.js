// Units that the page data mix: rates of memory are in GiB/s, slopes of roofs in GB/s. People read GB/s. Pure.

/** Gibibytes in a gigabyte (1e9). */
export const GIB_PER_GB = 1e9 / 2 ** 30;
const GB_PER_GIB = 2 ** 30 / 1e9;

/** GiB/s as GB/s; an unknown value stays unknown. @param {number | null | undefined} gibs */
export const gibToGb = (gibs) => (gibs == null ? null : gibs * GB_PER_GIB);
