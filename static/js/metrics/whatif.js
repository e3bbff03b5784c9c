// The page data under other peaks: bounds, efficiencies and savings of every op and program point again, from
// their rates. Pure. The rules are those of `app/roofline/analysis/measure.py`; a test holds the two equal.

import { causeOf } from "./above-roof.js";
import { GIB_PER_GB } from "./units.js";
import { deviceFields, shownLevels } from "./peaks.js";

/** @import { Awaited, Measure, MeasureId, Level, OpColumns, Page, PageView, Predictions, ProgramPoint, Roofs, Value, WorkUnit } from "../types/page-data.js" */

const NOTHING = 1e-10; // a smaller divisor is none, as in the analysis
const ROUNDING = 2e-5; // rates have six digits: a smaller rest of their sum is rounding
const MAIN = "compute"; // the clock of the main compute peak
const AT_RIDGE = [0.8, 1.25]; // of compute time ÷ memory time
const HOST = "host"; // the link to the host
const SECOND_US = 1e6;
const GB_PER_US = 1e3; // bytes that 1 GB/s moves in 1 µs
const IMPOSSIBLE = 1.03; // of a peak: more than its tolerance explains, as in the analysis
const MOST_TIMES = 10; // a peak that is wrong by more does not exist, as in the analysis
const KNOWN_SHARE = 0.5; // compute use is known where so much of the FLOPs has a peak, as in the analysis

/**
 * @typedef {object} Ceilings what rows are held against
 * @property {number} main GFLOP/s of the first compute roof; 0: unknown
 * @property {boolean} isOfOneUnit the first compute roof is a unit's: it says nothing about others
 * @property {boolean} hasCompute
 * @property {{ id: string, columns: WorkUnit["columns"], gflops: number, roof: number | null, isOwn: boolean }[]} units that work is split by
 * @property {{ id: string, columns: Level["columns"], gibs: number, code: number, isMain: boolean, isLink: boolean, isOwn: boolean }[]} levels memories and links
 * @property {number} cores
 * @property {string | null} told the link of communication that the capture does not name
 * @property {number} unknownLink code of a bound whose link, or its peak, is not known
 * @property {boolean} none no peak is known at all
 * @property {boolean} hasMain the profile knows its main memory
 * @property {boolean} isEstimated FLOPs are from shapes: ops that have bytes alone do hardly any
 * @property {number} ofOwnMain main compute peak of the profile itself ÷ this one; NaN: unknown
 *
 * @typedef {[string, number][]} Uses shares of peaks, each with the id of its clock
 *
 * @typedef {(id: MeasureId) => number} Get a rate, share or intensity of one op or program point; NaN where unknown
 */

/** @param {number} part @param {number} whole */
const ratio = (part, whole) => (Math.abs(whole) < NOTHING ? NaN : part / whole);
/** @param {number} value @returns {Measure} */
const known = (value) => (Number.isNaN(value) ? null : value);

/** @param {Page} page @param {string} id of a level */
const isLinkOf = (page, id) => page.levels.some((level) => level.id === id && level.is_link);

/** @param {Page} page @param {Roofs} roofs */
function toldLink(page, { memory }) {
  const set = memory.filter(
    ({ id, origin }) => origin === "user" && id !== HOST && isLinkOf(page, id),
  );
  return set.length === 1 ? set[0].id : null;
}

/**
 * @param {Page} page the server's page data
 * @param {Roofs} roofs
 * @returns {Ceilings}
 */
function ceilingsOf(page, roofs) {
  const before = {
    compute: new Map(page.roofs.compute.map((roof) => [roof.id, roof.gflops])),
    memory: new Map(page.roofs.memory.map((roof) => [roof.id, roof.gbs])),
  };
  const units = page.units.map(({ id, columns }) => {
    const at = roofs.compute.findIndex((roof) => roof.unit === id || roof.covers.includes(id));
    const roof = roofs.compute[at];
    return {
      id,
      columns,
      gflops: roof?.gflops ?? 0,
      roof: roof ? at : null,
      isOwn: roof !== undefined && before.compute.get(roof.id) === roof.gflops,
    };
  });
  const levels = shownLevels(page).map(({ id, columns, is_main: isMain, is_link: isLink }) => {
    const roof = roofs.memory.find((one) => one.id === id);
    const code = page.bounds.findIndex((bound) => bound.level === id);
    return {
      id,
      columns,
      gibs: roof?.gibs ?? 0,
      code,
      isMain,
      isLink: Boolean(isLink),
      isOwn: roof !== undefined && before.memory.get(id) === roof.gbs,
    };
  });
  const top = roofs.compute[0];
  return {
    main: top?.gflops ?? 0,
    isOfOneUnit: Boolean(top?.unit),
    hasCompute: top !== undefined,
    units,
    levels,
    cores: Math.max(page.device.cores, 1),
    told: toldLink(page, roofs),
    unknownLink: page.bounds.findIndex((bound) => bound.kind === "link"),
    none: top === undefined && !roofs.memory.some(({ id }) => !isLinkOf(page, id)),
    hasMain: page.levels.some((level) => level.is_main),
    isEstimated: page.profile.provenance?.flop === "estimated",
    ofOwnMain: ratio(page.roofs.compute[0]?.gflops ?? NaN, top?.gflops ?? 0),
  };
}

/**
 * A profiler's share of its own peak counts while that peak is the profile's.
 * @param {boolean} isOwn
 * @param {number} own
 * @param {number} rate
 * @param {number} peak
 */
function share(isOwn, own, rate, peak) {
  return isOwn && !Number.isNaN(own) ? own : ratio(rate, peak);
}

/**
 * Share of the most used compute peak, and which roof that is.
 * @param {Get} get
 * @param {Ceilings} ceilings
 * @returns {{ used: number, roof: number | null, uses: Uses }} `uses`: that of each unit, and of the main peak
 */
function computeUse(get, { units, main, isOfOneUnit, hasCompute }) {
  const rate = get("flop_rate_gflops");
  const first = hasCompute ? 0 : null;
  if (units.length === 0) {
    const used = ratio(rate, main);
    return { used, roof: first, uses: [[MAIN, used]] };
  }
  /** @type {Uses} */
  const uses = [];
  let rest = rate;
  let unheld = 0;
  let isClaimed = false;
  const held = [];
  for (const unit of units) {
    const own = get(unit.columns.rate);
    const used = share(unit.isOwn, get(unit.columns.utilisation), own, unit.gflops);
    const isHeld = own > 0 && !Number.isNaN(used);
    uses.push([unit.id, used]);
    if (isHeld) held.push({ used, roof: unit.roof });
    if (isOfOneUnit ? own > 0 : isHeld) {
      rest -= own;
      isClaimed = true;
      if (!isHeld) unheld += own;
    }
  }
  const isRest = !isClaimed || rest > rate * ROUNDING;
  uses.unshift([MAIN, isRest ? ratio(rest, main) : 0]);
  if (unheld > (1 - KNOWN_SHARE) * rate * (1 + ROUNDING)) return { used: NaN, roof: null, uses };
  if (isRest) held.unshift({ used: ratio(rest, main), roof: first });
  const counted = held.filter(({ used }) => !Number.isNaN(used));
  const most = counted.reduce(
    (best, one) => (one.used > best.used ? one : best),
    counted[0] ?? { used: NaN, roof: first },
  );
  return { ...most, uses };
}

/**
 * Share of each memory's peak; NaN without one.
 * @param {Get} get
 * @param {Ceilings} ceilings
 */
function memoryUses(get, { levels }) {
  return levels.map(({ id, columns, gibs, code, isMain, isLink, isOwn }) => {
    const rate = get(columns.bandwidth);
    return {
      id,
      code,
      isMain,
      isLink,
      gibs: rate,
      used: share(isOwn, get(columns.utilisation), rate, gibs),
      at: get(columns.intensity),
    };
  });
}

/** The largest of what is known; NaN where nothing is. @param {number[]} values */
const highest = (values) =>
  values.reduce((most, value) => (Number.isNaN(most) || value > most ? value : most), NaN);

/**
 * Whether it can be said what binds: the use of compute and of the main memory is known. No work uses nothing.
 * @param {Get} get
 * @param {Ceilings} ceilings
 * @param {number} compute share of the compute peak
 * @param {ReturnType<typeof memoryUses>} memories
 */
function isDecided(get, { hasMain, isEstimated }, compute, memories) {
  const rate = get("flop_rate_gflops");
  const moved = get("memory_bandwidth_gibs");
  const main = memories.find(({ isMain }) => isMain);
  const isLight = isEstimated && Number.isNaN(rate) && !Number.isNaN(moved);
  const isComputeKnown = isLight || rate === 0 || !Number.isNaN(compute);
  const isMemoryKnown = main
    ? !Number.isNaN(main.used) || main.gibs === 0
    : hasMain || memories.some(({ used }) => !Number.isNaN(used));
  return isComputeKnown && !Number.isNaN(moved) && (isMemoryKnown || moved === 0);
}

/**
 * @typedef {{ code: number, used: number, at: number }} Use of one ceiling, and the intensity there
 */

/**
 * The most utilised binds: compute first, a later one only if strictly higher; on the chip only what moved bytes.
 * @param {Use} none
 * @param {{ used: number }} compute
 * @param {number} overall intensity over all bytes
 * @param {ReturnType<typeof memoryUses>} memories
 * @returns {Use}
 */
function mostUsed(none, compute, overall, memories) {
  const uses = [
    { code: 1, used: compute.used, at: overall },
    ...memories.filter(({ isMain, gibs }) => isMain || gibs > 0),
  ];
  return uses.reduce((best, one) => (one.used > best.used ? one : best), none);
}

/** @param {ReturnType<typeof memoryUses>} memories @returns {Uses} */
const usesOf = (memories) => memories.map(({ id, used }) => [id, used]);

/**
 * The columns of one op or program point that follow from peaks.
 * @param {Get} get
 * @param {Ceilings} ceilings
 * @param {boolean} isOp links may bind ops; a program is judged by its memories
 */
function measure(get, ceilings, isOp = true) {
  const overall = get("operational_intensity");
  const compute = computeUse(get, ceilings);
  const levels = memoryUses(get, ceilings);
  const memories = levels.filter(({ isLink }) => !isLink);
  const links = isOp ? levels.filter(({ isLink, gibs }) => isLink && gibs > 0) : [];
  const main = memories.find(({ isMain }) => isMain);
  let bound = { code: 0, used: 0, at: ceilings.none ? overall : (main?.at ?? NaN) };
  if (isDecided(get, ceilings, compute.used, memories))
    bound = mostUsed(bound, compute, overall, [...memories, ...links]);
  const memory = highest(memories.map(({ used }) => used));
  const most = highest([memory, compute.used, ...links.map(({ used }) => used)]);
  const efficiency = bound.code === 0 ? NaN : most;
  return {
    bound_by: bound.code,
    bottleneck_intensity: known(bound.at),
    attainable_gflops: known(
      ratio(get("flop_rate_gflops"), Number.isNaN(efficiency) ? 0 : efficiency),
    ),
    roofline_efficiency_ratio: known(efficiency),
    compute_efficiency_ratio: known(compute.used),
    memory_utilisation_ratio: known(memory),
    compute_unit: get("flop_rate_gflops") > 0 ? compute.roof : null,
    uses: { compute: compute.uses, memory: usesOf(levels) },
  };
}

/**
 * How long the work of an op takes at each peak, and at all of them: the rules of `app/roofline/analysis/op_clocks.py`.
 * @param {{ compute: Uses, memory: Uses }} uses
 * @param {number} took us that the op took where it used so much; NaN where it has no clocks
 * @param {number} total its measured time
 */
function clocksOf({ compute, memory }, took, total) {
  /** @type {Uses} */
  const times = [...compute, ...memory].map(([id, used]) => [id, used * took]);
  const counted = times.map(([, us]) => us).filter((us) => !Number.isNaN(us));
  const most = counted.length > 0 ? counted.reduce((sum, us) => sum + us, 0) : NaN;
  const above = Number.isNaN(most) || Number.isNaN(total) ? NaN : Math.max(total - most, 0);
  const near = highest(compute.map(([, used]) => used)) / highest(memory.map(([, used]) => used));
  return {
    times: {
      ...Object.fromEntries(times.map(([id, us]) => [`${id}_clock_us`, known(us)])),
      t_min_us: known(highest(counted)),
      t_max_us: known(most),
      above_t_max_us: known(above),
    },
    isAtRidge: !Number.isNaN(took) && near >= AT_RIDGE[0] && near <= AT_RIDGE[1],
  };
}

/**
 * Only where work is split by compute unit do the data have the roof of each op.
 * @template T
 * @param {Ceilings} ceilings
 * @param {T} value
 */
const unitOnly = ({ units }, value) => (units.length > 0 ? { compute_unit: value } : {});

/**
 * A program is placed by hardware counters only where both compute and memory were counted. The counter of compute
 * is a share of the main peak.
 * @param {Get} get
 * @param {Ceilings} ceilings
 */
function measureCounters(get, ceilings) {
  const memories = memoryUses(get, ceilings).filter(({ isMain }) => isMain);
  const memory = memories[0]?.used ?? NaN;
  const compute = get("compute_efficiency_ratio") * ceilings.ofOwnMain;
  const isPlaced = !Number.isNaN(compute) && !Number.isNaN(memory) && Math.max(compute, memory) > 0;
  const efficiency = isPlaced ? Math.max(compute, memory) : NaN;
  return {
    bound_by: !isPlaced ? 0 : compute >= memory ? 1 : memories[0].code,
    bottleneck_intensity: known(get("bottleneck_intensity")),
    attainable_gflops: known(ratio(get("flop_rate_gflops"), isPlaced ? efficiency : 0)),
    roofline_efficiency_ratio: known(efficiency),
    compute_efficiency_ratio: known(compute),
    memory_utilisation_ratio: known(memory),
    compute_unit: ceilings.hasCompute && get("flop_rate_gflops") > 0 ? 0 : null,
  };
}

/**
 * Bound, share of the roof and place are those of the ops that have one, where these are not all that is known.
 * @param {ProgramPoint} point
 * @param {Ceilings} ceilings
 */
function measureProgram(point, ceilings) {
  /** @type {Get} */
  const get = (id) => point[id] ?? NaN;
  const found = measure(get, ceilings, false);
  if (point.placed_flop_rate_gflops === undefined) return found;
  const place = measure((id) => placedRate(point, id) ?? NaN, ceilings, false);
  return {
    ...place,
    compute_efficiency_ratio: found.compute_efficiency_ratio,
    memory_utilisation_ratio: found.memory_utilisation_ratio,
    compute_unit: found.compute_unit,
  };
}

/**
 * A rate of the ops that have a place on the roofline.
 * @param {ProgramPoint} point
 * @param {MeasureId} id
 */
export function placedRate(point, id) {
  const placed = point[/** @type {MeasureId} */ (`placed_${id}`)];
  return placed === undefined ? point[id] : placed;
}

/**
 * @param {ProgramPoint} point
 * @param {number} index
 * @param {Ceilings} ceilings
 * @returns {ProgramPoint}
 */
function measurePoint(point, index, ceilings) {
  /** @type {Get} */
  const get = (id) => point[id] ?? NaN;
  const isCounters = point.scope === "total_hw" && index > 0;
  const found = isCounters ? measureCounters(get, ceilings) : measureProgram(point, ceilings);
  const { compute_unit: unit, uses: _, ...measured } = { uses: null, ...found };
  return { ...point, ...measured, ...unitOnly(ceilings, unit) };
}

/**
 * Without shares that no peak explains: the rule of `app/roofline/analysis/cells.py`, under other peaks.
 * @param {OpColumns} columns
 * @param {number} op
 * @param {ReturnType<typeof measure>} row
 */
function withoutImpossible(columns, op, row) {
  const moves = columns.cost[op] === "transfer";
  const isHalf = columns.memory_cause?.[op] === "asynchronous";
  const overlaps = isHalf || columns.total_time_us?.[op] !== columns.self_time_us?.[op];
  /** @param {Measure} share @param {number} most */
  const possible = (share, most = isHalf ? IMPOSSIBLE : MOST_TIMES) =>
    share !== null && share > most ? null : share;
  const share = possible(row.roofline_efficiency_ratio);
  const isLost = share !== row.roofline_efficiency_ratio;
  return {
    bound_by: isLost && !moves ? 0 : row.bound_by,
    attainable_gflops: isLost ? null : row.attainable_gflops,
    roofline_efficiency_ratio: share,
    compute_efficiency_ratio: possible(row.compute_efficiency_ratio),
    memory_utilisation_ratio: possible(row.memory_utilisation_ratio, overlaps ? 1 : MOST_TIMES),
  };
}

/**
 * Self time beyond what the roof needs; unknown above the roof.
 * @param {Measure} us
 * @param {Measure} efficiency
 */
const savingOf = (us, efficiency) =>
  us === null || efficiency === null || efficiency > 1 ? null : us * (1 - efficiency);

/**
 * @param {OpColumns} columns
 * @param {number} count
 * @param {Ceilings} ceilings
 * @returns {OpColumns}
 */
function measureOps(columns, count, ceilings) {
  const rows = Array.from({ length: count }, (_, i) => {
    const row = measure((id) => columns[id]?.[i] ?? NaN, ceilings);
    return columns.cost[i] === "transfer" ? transferOf(columns, i, row, ceilings) : row;
  });
  const shown = rows.map((row, i) => withoutImpossible(columns, i, row));
  const units = rows.map((row) => row.compute_unit);
  const clocks = rows.map((row, i) => {
    const total = columns.total_time_us?.[i] ?? NaN;
    if (columns.cost[i] === "transfer") return transferClocks(columns, i, total, ceilings);
    const isElsewhere = columns.is_start?.[i] && (row.roofline_efficiency_ratio ?? 0) > 1;
    const isHeld = row.bound_by !== 0 && !isElsewhere;
    return clocksOf(row.uses, isHeld ? total : NaN, total);
  });
  return {
    ...columns,
    ...asColumns(clocks.map(({ times }) => times)),
    at_ridge: clocks.map(({ isAtRidge }) => (isAtRidge ? 1 : 0)),
    bound_by: shown.map((row) => row.bound_by),
    bottleneck_intensity: rows.map((row) => row.bottleneck_intensity),
    attainable_gflops: shown.map((row) => row.attainable_gflops),
    roofline_efficiency_ratio: shown.map((row) => row.roofline_efficiency_ratio),
    compute_efficiency_ratio: shown.map((row) => row.compute_efficiency_ratio),
    memory_utilisation_ratio: shown.map((row) => row.memory_utilisation_ratio),
    ...unitOnly(ceilings, units),
    above_roof: rows.map((row, i) => causeOf(columns, i, row)),
    saving_per_core_us: rows.map((row, i) => {
      const exposed = columns.exposed_us?.[i] ?? null;
      if (exposed !== null) return exposedSaving(columns, i, exposed, ceilings);
      return savingOf(columns.self_time_per_core_us[i], row.roofline_efficiency_ratio);
    }),
  };
}

/**
 * The link of a transfer: as the capture tells, else the only one between devices whose peak was set by hand.
 * @param {OpColumns} columns
 * @param {number} op
 * @param {Ceilings} ceilings
 */
const linkOf = ({ link }, op, { levels, told }) =>
  levels.find(({ id }) => id === (link?.[op] ?? told));

/** Time that the bytes of a transfer need at its link's peak. @param {OpColumns} columns @param {number} op @param {Ceilings} ceilings */
function atLinkPeak(columns, op, ceilings) {
  const moved = columns.link_bytes?.[op] ?? NaN;
  return ratio(moved / GB_PER_US, (linkOf(columns, op, ceilings)?.gibs ?? 0) / GIB_PER_GB);
}

/**
 * A link binds a transfer, never a memory.
 * @param {OpColumns} columns
 * @param {number} op
 * @param {ReturnType<typeof measure>} row what it would be as another op
 * @param {Ceilings} ceilings
 */
function transferOf(columns, op, row, ceilings) {
  const link = linkOf(columns, op, ceilings);
  const rate = link ? (columns[link.columns.bandwidth]?.[op] ?? NaN) : NaN;
  const used = rate > 0 && link ? ratio(rate, link.gibs) : NaN;
  return {
    ...row,
    bound_by: link && link.gibs > 0 ? link.code : ceilings.unknownLink,
    bottleneck_intensity: link ? (columns[link.columns.intensity]?.[op] ?? null) : null,
    roofline_efficiency_ratio: known(used),
    attainable_gflops: known(
      ratio(columns.flop_rate_gflops[op] ?? NaN, Number.isNaN(used) ? 0 : used),
    ),
  };
}

/**
 * Columns with the rates of asynchronous transfers under these peaks: bytes over the wait where that is long enough for
 * them at the link's peak, else over the interval. The rule is that of `app/roofline/analysis/awaited.py`.
 * @param {OpColumns} columns
 * @param {Awaited | undefined} awaited
 * @param {Ceilings} ceilings
 * @returns {OpColumns}
 */
function withRates(columns, awaited, ceilings) {
  const changed = { ...columns };
  for (const [at, op] of awaited?.op.entries() ?? []) {
    const link = linkOf(columns, op, ceilings);
    if (!awaited || !link) continue;
    const id = link.columns.bandwidth;
    if (changed[id] === columns[id]) changed[id] = [...(columns[id] ?? [])];
    const peak = (link.gibs / GIB_PER_GB) * (1 + ROUNDING);
    const last = awaited.least_gbs[at].findLastIndex((gbs) => gbs <= peak);
    const took = last < 0 ? awaited.interval_us[at] : awaited.took_us[at][last];
    const moved = (columns.link_bytes?.[op] ?? NaN) / GB_PER_US;
    /** @type {Measure[]} */ (changed[id])[op] = known(ratio(moved * GIB_PER_GB, took));
  }
  return changed;
}

/** Its bytes at its link's peak, where they moved in its own time. @param {OpColumns} columns @param {number} op @param {number} total @param {Ceilings} ceilings */
function transferClocks(columns, op, total, ceilings) {
  const own = linkOf(columns, op, ceilings)?.id;
  const needed = atLinkPeak(columns, op, ceilings);
  const isHere = needed > 0 && needed <= total;
  /** @type {Uses} */
  const compute = [MAIN, ...ceilings.units.map(({ id }) => id)].map((id) => [id, NaN]);
  /** @type {Uses} */
  const memory = ceilings.levels.map(({ id, isLink, gibs }) => [
    id,
    isLink && gibs > 0 && isHere ? (id === own ? needed / total : 0) : NaN,
  ]);
  return clocksOf({ compute, memory }, total, total);
}

/** Exposed time beyond what its link needs. @param {OpColumns} columns @param {number} op @param {number} exposed @param {Ceilings} ceilings */
function exposedSaving(columns, op, exposed, ceilings) {
  return known(Math.max(exposed - atLinkPeak(columns, op, ceilings), 0) / ceilings.cores);
}

/** One array per key. @param {Record<string, Measure>[]} rows */
const asColumns = (rows) =>
  Object.fromEntries(Object.keys(rows[0] ?? {}).map((id) => [id, rows.map((row) => row[id])]));

/**
 * Ops without a time, at the best rates that the ceilings allow: the work of one takes as many seconds as the share
 * of the roof that it would reach in one second. The rules are those of `app/roofline/analysis/prediction.py`.
 * @param {OpColumns} columns under these ceilings
 * @param {Predictions} predictions
 * @param {Ceilings} ceilings
 * @returns {OpColumns}
 */
function withPredictions(columns, predictions, ceilings) {
  const changed = { ...columns };
  /** @param {string} id @param {number} op @param {Measure} value */
  const put = (id, op, value) => {
    if (changed[id] === columns[id]) changed[id] = [...(columns[id] ?? [])];
    /** @type {Value[]} */ (changed[id])[op] = value;
  };
  for (const [at, op] of predictions.op.entries()) {
    const found = atBest(columns, predictions, at, ceilings);
    for (const [id, value] of Object.entries(found)) put(id, op, value);
  }
  return changed;
}

/**
 * The columns of one prediction that follow from peaks.
 * @param {OpColumns} columns
 * @param {Predictions} predictions
 * @param {number} at place of the op in these
 * @param {Ceilings} ceilings
 * @returns {Record<string, Measure>}
 */
function atBest(columns, { op, columns: inOneSecond }, at, ceilings) {
  /** @type {Get} */
  const get = (id) => (inOneSecond[id] ?? columns[id])?.[id in inOneSecond ? at : op[at]] ?? NaN;
  const found = measure(get, ceilings);
  const isWhole = !Number.isNaN(get("flop_rate_gflops") + get("memory_bandwidth_gibs"));
  const seconds = (isWhole && found.roofline_efficiency_ratio) || NaN;
  /** @param {Measure | undefined} rate */
  const faster = (rate) => known((rate ?? NaN) / seconds);
  const isPlaced = !Number.isNaN(seconds);
  const rates = Object.entries(inOneSecond).map(([id, rate]) => [id, faster(rate[at])]);
  const clocks = clocksOf(found.uses, found.bound_by !== 0 ? SECOND_US : NaN, NaN);
  return {
    ...clocks.times,
    at_ridge: clocks.isAtRidge ? 1 : 0,
    ...Object.fromEntries(rates),
    ...unitOnly(ceilings, isPlaced ? found.compute_unit : null),
    attainable_gflops: faster(get("flop_rate_gflops")),
    compute_efficiency_ratio: faster(found.compute_efficiency_ratio),
    memory_utilisation_ratio: faster(found.memory_utilisation_ratio),
    bound_by: isPlaced ? found.bound_by : 0,
    bottleneck_intensity: isPlaced ? found.bottleneck_intensity : null,
    above_roof: null,
    roofline_efficiency_ratio: null,
    saving_per_core_us: null,
  };
}

/**
 * @param {PageView} view
 * @param {OpColumns} columns
 * @param {Ceilings} ceilings
 * @returns {PageView}
 */
function viewOf(view, columns, ceilings) {
  const time = view.total_time_per_core_us;
  /** @param {Measure} us */
  const shareOf = (us) => (us === null || !time ? null : us / time);
  return {
    ...view,
    columns: {
      ...view.columns,
      saving_share_ratio: view.op.map((op) => shareOf(columns.saving_per_core_us[op])),
    },
    program: view.program.map((point, index) => measurePoint(point, index, ceilings)),
  };
}

/**
 * The same page under other roofs; rates, times and everything else that was measured stay.
 * @param {Page} page the server's page data
 * @param {Roofs} roofs ridges are filled in
 * @returns {Page}
 */
export function withRoofs(page, roofs) {
  const ceilings = ceilingsOf(page, roofs);
  const { awaited, predictions } = page.ops;
  const rates = withRates(page.ops.columns, awaited, ceilings);
  const measured = measureOps(rates, page.ops.count, ceilings);
  const columns = predictions ? withPredictions(measured, predictions, ceilings) : measured;
  const noPeak = ceilings.none ? "no peak" : "unknown";
  const ridges = roofs.memory.map((roof) => ({
    ...roof,
    ridge_flop_per_byte: ceilings.main > 0 ? ceilings.main / roof.gbs : null,
  }));
  const shown = { compute: roofs.compute, memory: ridges };
  return {
    ...page,
    roofs: shown,
    device: { ...page.device, fields: deviceFields(page, shown) },
    bounds: page.bounds.map((bound) =>
      bound.kind === "none" ? { ...bound, label: noPeak } : bound,
    ),
    ops: { ...page.ops, columns },
    views: {
      in: viewOf(page.views.in, columns, ceilings),
      out: viewOf(page.views.out, columns, ceilings),
    },
  };
}
