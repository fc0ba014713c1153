/** Returns the UTC date of a time in milliseconds since 1970, such as `2026-11-21`. */
export function formatDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Returns a time such as `2026-11-24 16:05` (UTC), or a dash for undefined.
 * @param time ms since 1970
 */
export function formatMinute(time: number | undefined): string {
  return time === undefined ? '-' : new Date(time).toISOString().slice(0, 16).replace('T', ' ');
}
