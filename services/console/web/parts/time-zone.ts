/** How the console shows times: in the time zone of the browser, or in UTC. */
export const timeZones = ['local', 'utc'] as const;
export type TimeZone = (typeof timeZones)[number];

let chosen: TimeZone = 'local';

/** The time zone in which times are shown: the local one until another is set. */
export function timeZone(): TimeZone {
  return chosen;
}

export function setTimeZone(zone: TimeZone): void {
  chosen = zone;
}
