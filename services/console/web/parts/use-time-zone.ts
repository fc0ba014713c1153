import { useSyncExternalStore } from 'react';
import { setTimeZone, getTimeZone, type TimeZone } from './time-zone.ts';

const storageKey = 'rtr-time-zone';

const listeners = new Set<() => void>();

setTimeZone(readChoice());

/** Sets the time zone of all times, and stores the choice in the browser. */
export function chooseTimeZone(zone: TimeZone): void {
  setTimeZone(zone);
  try {
    window.localStorage.setItem(storageKey, zone);
  } catch {
    // The browser stores nothing for pages, so the choice lasts until the page is left.
  }
  for (const listener of listeners) listener();
}

/** Returns the chosen time zone; renders again when it changes. */
export function useTimeZone(): TimeZone {
  return useSyncExternalStore(subscribe, getTimeZone);
}

/** Returns the name of the browser's time zone, for example `Europe/Berlin`. */
export function findLocalZoneName(): string {
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
