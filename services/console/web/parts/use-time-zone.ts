import { useSyncExternalStore } from 'react';
import { setTimeZone, timeZone, type TimeZone } from './time-zone.ts';

/** Where the browser keeps the choice. */
const storageKey = 'rtr-time-zone';

const listeners = new Set<() => void>();

setTimeZone(readChoice());

/** Chooses the time zone of all times, and keeps the choice in the browser. */
export function chooseTimeZone(zone: TimeZone): void {
  setTimeZone(zone);
  try {
    window.localStorage.setItem(storageKey, zone);
  } catch {
    // A browser that keeps nothing for pages: the choice lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

/** The chosen time zone; renders again when it changes. */
export function useTimeZone(): TimeZone {
  return useSyncExternalStore(subscribe, timeZone);
}

/** The name of the browser's time zone, as `Europe/Berlin`. */
export function localZoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readChoice(): TimeZone {
  try {
    return window.localStorage.getItem(storageKey) === 'utc' ? 'utc' : 'local';
  } catch {
    return 'local';
  }
}
