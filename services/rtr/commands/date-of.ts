/** The day of a time in milliseconds since 1970, in UTC: `2026-11-21`. */
export function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
