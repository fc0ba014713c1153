import type { JsonObject } from '#shared/core/json.ts';
import { startLocalUpstream } from './local-upstream.ts';

/**
 * Starts a local upstream that gives every request the same answer, and makes a CLI send requests to it.
 * @param events events of the answer; if an event has a type, that is also its name in the stream
 * @param sendRequest makes the CLI send a request to the upstream at an address
 * @returns the body of the last request
 */
export async function probeUpstream(
  events: readonly JsonObject[],
  sendRequest: (url: string) => Promise<void>,
): Promise<JsonObject> {
  const answer = events.map(writeEvent).join('');
  const upstream = await startLocalUpstream(() => answer);
  try {
    await sendRequest(upstream.url);
  } finally {
    upstream.close();
  }
  return upstream.lastRequest();
}

function writeEvent(event: JsonObject): string {
  const { type } = event;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
