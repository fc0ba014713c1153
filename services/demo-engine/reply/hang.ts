import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';

const longestMs = 600_000;

/** Sends nothing more until the client leaves; cuts the connection after ten minutes, so that nothing is held for ever. */
export async function hang(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await sleep(longestMs, undefined, { signal });
  response.destroy();
}
