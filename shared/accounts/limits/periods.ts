const dayMs = 86_400_000;

/** The beginning of the day of UTC after a time, both in ms since 1970. */
export function nextDay(at: number): number {
  return (Math.floor(at / dayMs) + 1) * dayMs;
}

/** The beginning of the month of UTC after a time, both in ms since 1970. */
export function nextMonth(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
