import type { ServerResponse } from 'node:http';
import { BoundedResponse } from './unread/bounded-response.ts';
import type { UnreadOutputs } from './unread/unread-outputs.ts';

/**
 * Answers with JSON that may be large. Until the client has read the JSON, it counts as unread output. A client that does not read is
 * disconnected after half a minute, or earlier if the unread output of all clients exceeds its limit.
 */
export function sendJson(response: ServerResponse, value: object, outputs: UnreadOutputs): void {
  const bytes = Buffer.from(JSON.stringify(value));
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('content-length', bytes.length);
  if (response.req.method === 'HEAD') response.end();
  else new BoundedResponse(response, outputs, () => response.destroy()).end(bytes);
}
