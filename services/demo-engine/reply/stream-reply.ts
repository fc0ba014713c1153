import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createOpenaiErrorBody } from '#shared/formats/openai/error.ts';
import { takeFirstTokens } from '../answer/plan-answer.ts';
import { hang, type Reply, type ReplyEnding } from './reply.ts';
import { timeSteps } from './time-steps.ts';

/**
 * Streams a reply as server-sent events, no faster than the client reads. Applies the fault that the options request.
 * @throws the signal's reason as soon as the client disconnects
 */
export async function streamReply(reply: Reply, response: ServerResponse, signal: AbortSignal): Promise<ReplyEnding> {
  const { demo, plan, format } = reply;
  const isBroken = demo.fault !== 'none' && demo.fault !== 'no_usage';
  const stepsBeforeFault = isBroken ? takeFirstTokens(plan.steps, demo.fault_after_tokens) : plan.steps;
  const send = async (text: string): Promise<void> => {
    if (!response.write(text)) await once(response, 'drain', { signal });
  };

  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  let opening = format.writeOpening();
  for await (const steps of timeSteps(stepsBeforeFault, demo, signal)) {
    await send(opening + steps.map((step) => format.writeStep(step)).join(''));
    opening = '';
    reply.onStepsSent(steps);
  }

  switch (demo.fault) {
    case 'drop':
      // The connection closes in the middle of an event. It closes after a flush, because closing discards buffered data.
      await new Promise((resolve) => response.write(format.writeBrokenEvent().trimEnd(), resolve));
      response.destroy();
      return 'faulted';
    case 'hang':
      await hang(response, signal);
      return 'faulted';
    case 'error_event': {
      const error = createOpenaiErrorBody({
        code: 'internal',
        message: 'The demo engine failed on demand.',
        param: undefined,
      });
      response.end(`data: ${JSON.stringify(error)}\n\ndata: [DONE]\n\n`);
      return 'faulted';
    }
    case 'close_early':
      response.end();
      return 'faulted';
    case 'malformed': {
      const rest = plan.steps.slice(stepsBeforeFault.length);
      await send(opening + format.writeBrokenEvent());
      for await (const steps of timeSteps(rest, { ...demo, first_token_delay_ms: 0 }, signal)) {
        await send(steps.map((step) => format.writeStep(step)).join(''));
        reply.onStepsSent(steps);
      }
      break;
    }
    case 'none':
    case 'no_usage':
    case '429':
    case '500':
    case '503':
      break;
  }
  const usage = reply.includeUsage && demo.fault !== 'no_usage' ? format.writeUsage(reply.usage) : '';
  response.end(`${opening}${format.writeEnd(plan)}${usage}data: [DONE]\n\n`);
  return demo.fault === 'none' ? 'finished' : 'faulted';
}
