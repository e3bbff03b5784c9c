// How long something will still take. Pure.

/** "about 9 s left"; empty while nothing is known. @param {number | null | undefined} seconds */
export function timeLeft(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return "";
  if (seconds < 1) return "less than 1\u00a0s left";
  if (seconds < 55) return `about ${Math.ceil(seconds)}\u00a0s left`;
  if (seconds < 3300) return `about ${Math.ceil(seconds / 60)}\u00a0min left`;
  return `about ${Math.ceil(seconds / 3600)}\u00a0h left`;
}
