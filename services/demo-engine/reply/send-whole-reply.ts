import type { ServerResponse } from 'node:http';
import { takeFirstTokens } from '../answer/plan-answer.ts';
import { RouterError } from '#shared/core/errors.ts';
import { hang, type Reply, type ReplyEnding } from './reply.ts';
import { timeSteps } from './time-steps.ts';
import { sendError, sendJson } from './send-json.ts';

/**
 * Sends a reply in one piece. Waits for the time that its tokens need, and applies the fault that the options request.
 * @throws the signal's reason as soon as the client disconnects
 */
export async function sendWholeReply(
  reply: Reply,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<ReplyEnding> {
  const { demo, plan } = reply;
  const isBroken = demo.fault !== 'none' && demo.fault !== 'no_usage';
  const steps = isBroken ? takeFirstTokens(plan.steps, demo.fault_after_tokens) : plan.steps;
  for await (const dueSteps of timeSteps(steps, demo, signal)) reply.onStepsSent(dueSteps);

  const body = reply.format.buildWhole(plan);
  switch (demo.fault) {
    case 'none':
      sendJson(response, 200, { ...body, usage: reply.usage });
      return 'finished';
    case 'no_usage':
      sendJson(response, 200, body);
      break;
    case 'drop':
      response.destroy();
      break;
    case 'hang':
      await hang(response, signal);
      break;
    case 'malformed':
    case 'close_early': {
      const text = JSON.stringify(body);
      const half = text.slice(0, text.length / 2);
      const announcedText = demo.fault === 'malformed' ? half : text;
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(announcedText),
      });
      await new Promise((resolve) => response.write(half, resolve));
      if (demo.fault === 'malformed') response.end();
      else response.destroy();
      break;
    }
    case 'error_event':
    case '429':
    case '500':
    case '503':
      sendError(response, new RouterError('internal', 'The demo engine failed on demand.'));
      break;
  }
  return 'faulted';
}
