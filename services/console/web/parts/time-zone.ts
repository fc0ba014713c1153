/** The time zones in which the console can show times. `local` is that of the browser. */
export const timeZones = ['local', 'utc'] as const;
export type TimeZone = (typeof timeZones)[number];

let chosen: TimeZone = 'local';

/** Returns the time zone in which times are shown. It is the local one until another is set. */
export function timeZone(): TimeZone {
  return chosen;
}

export function setTimeZone(zone: TimeZone): void {
  chosen = zone;
}
