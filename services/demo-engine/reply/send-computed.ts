import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { hang, type ReplyEnding } from './reply.ts';
import { sendError, sendJson } from './send-json.ts';

/** An answer that is not generated token by token. */
export interface ComputedBody {
  usage: object;
  /** The answer in a form that is not JSON. A fault breaks the JSON form instead. */
  plain?: { text: string; type: string };
  [field: string]: unknown;
}

/**
 * Sends an answer that is not generated token by token. Waits for the first-token delay, and applies the fault that the options request.
 * `answerWithSlot` has already handled the faults `429`, `500` and `503`.
 * @throws the signal's reason as soon as the client disconnects
 */
export async function sendComputed(
  { usage, plain, ...rest }: ComputedBody,
  { fault, first_token_delay_ms: delayMs }: DemoOptions,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<ReplyEnding> {
  if (delayMs > 0) await sleep(delayMs, undefined, { signal });
  switch (fault) {
    case 'drop':
    case 'close_early':
      response.destroy();
      return 'faulted';
    case 'hang':
      await hang(response, signal);
      return 'faulted';
    case 'malformed':
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(rest).slice(0, -2));
      return 'faulted';
    case 'no_usage':
      sendJson(response, 200, rest);
      return 'faulted';
    case 'error_event':
      sendError(response, new RouterError('internal', 'The demo engine failed on demand.'));
      return 'faulted';
    case 'none':
    case '429':
    case '500':
    case '503':
      if (plain) response.writeHead(200, { 'content-type': plain.type }).end(plain.text);
      else sendJson(response, 200, { ...rest, usage });
      return 'finished';
  }
}
