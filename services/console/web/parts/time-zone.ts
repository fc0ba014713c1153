/** The time zones in which the console can show times. `local` is the browser's time zone. */
export const timeZones = ['local', 'utc'] as const;
export type TimeZone = (typeof timeZones)[number];

let chosenZone: TimeZone = 'local';

/** Returns the time zone in which times are shown. It is the local time zone until another is set. */
export function getTimeZone(): TimeZone {
  return chosenZone;
}

export function setTimeZone(zone: TimeZone): void {
  chosenZone = zone;
}
