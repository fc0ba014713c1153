import type { ServerResponse } from 'node:http';

/**
 * Waits until the client has read the sent data, or is disconnected. Disconnects a client that reads nothing for `unreadMs` milliseconds.
 */
export async function waitForDrain(response: ServerResponse, unreadMs: number): Promise<void> {
  if (!response.writableNeedDrain) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve).once('close', resolve);
  const timer = setTimeout(() => response.destroy(), unreadMs);
  await promise;
  clearTimeout(timer);
  response.off('drain', resolve).off('close', resolve);
}
