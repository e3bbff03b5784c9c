// How fast an upload is, and how long it will still take. Pure.

/** Rates are taken over this much of the past: short enough to follow, long enough to be calm. */
const WINDOW_MS = 3000;
/** Before this, a rate says more about buffers than about the network. */
const SETTLED_MS = 400;

/**
 * @typedef {object} Sent
 * @property {number} sent bytes
 * @property {number} total bytes
 * @property {number} fraction 0 to 1
 * @property {number | null} rate bytes per second; null while it cannot be told
 * @property {number | null} secondsLeft
 */

/**
 * Turns "so many bytes by now" into rate and time left.
 * @param {number} total bytes
 * @param {number} startedAt milliseconds
 * @returns {(sent: number, now: number) => Sent}
 */
export function createMeter(total, startedAt) {
  const samples = [{ at: startedAt, sent: 0 }];
  return (sent, now) => {
    samples.push({ at: now, sent });
    while (samples.length > 2 && now - samples[1].at >= WINDOW_MS) samples.shift();
    const [first] = samples;
    const settled = now - startedAt >= SETTLED_MS && sent > first.sent;
    const rate = settled ? ((sent - first.sent) * 1000) / (now - first.at) : null;
    return {
      sent,
      total,
      rate,
      fraction: total > 0 ? Math.min(1, sent / total) : 0,
      secondsLeft: rate === null ? null : Math.max(0, total - sent) / rate,
    };
  };
}
