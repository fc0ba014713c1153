import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/**
 * Waits until the client has read what was sent. Disconnects a client that reads nothing for `unreadMs` milliseconds.
 * @param gone aborts when the client has disconnected
 */
export async function waitForDrain(response: ServerResponse, unreadMs: number, gone: AbortSignal): Promise<void> {
  const timer = setTimeout(() => response.destroy(), unreadMs);
  try {
    await once(response, 'drain', { signal: gone }).catch(() => undefined);
  } finally {
    clearTimeout(timer);
  }
}
