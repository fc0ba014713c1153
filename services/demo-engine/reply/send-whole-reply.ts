import type { ServerResponse } from 'node:http';
import { firstTokens, type Plan, type Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import { RouterError } from '#shared/core/errors.ts';
import { hang, type Reply, type ReplyEnding } from './reply.ts';
import { paceSteps } from './pace-steps.ts';
import { sendError, sendJson } from './send-json.ts';

/**
 * Sends a reply in one piece, after the time that its tokens take, with its fault if any.
 * @throws the signal's reason as soon as the client disconnects
 */
export async function sendWholeReply(
  reply: Reply,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<ReplyEnding> {
  const { demo, plan } = reply;
  const breaks = demo.fault !== 'none' && demo.fault !== 'no_usage';
  const steps = breaks ? firstTokens(plan.steps, demo.fault_after_tokens) : plan.steps;
  for await (const due of paceSteps(steps, demo, signal)) reply.onSent(due);

  const body = completion(reply);
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
      const announced = demo.fault === 'malformed' ? half : text;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(announced) });
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

function completion({ head: { id, created, model }, plan, demo }: Reply) {
  const calls = plan.finish === 'tool_calls' && demo.finish_stop;
  const choice = {
    index: 0,
    message: messageOf(plan, demo),
    logprobs: null,
    finish_reason: calls ? 'stop' : plan.finish,
    stop_reason: plan.stop,
  };
  return { id, object: 'chat.completion', created, model, choices: [choice] };
}

function messageOf({ steps }: Plan, demo: DemoOptions): object {
  const textOf = (kind: 'reasoning' | 'content'): string =>
    steps.map(({ delta }) => (delta.kind === kind ? delta.text : '')).join('');
  const reasoning = textOf('reasoning');
  const content = textOf('content');
  const calls = toolCallsOf(steps);
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { [demo.reasoning_field]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function toolCallsOf(steps: readonly Step[]) {
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  for (const { delta } of steps) {
    if (delta.kind === 'tool_call') {
      const { index, id, name } = delta;
      calls[index] = { id, type: 'function', function: { name, arguments: delta.arguments } };
    } else if (delta.kind === 'tool_arguments') {
      const call = calls[delta.index];
      if (call) call.function.arguments += delta.text;
    }
  }
  return calls;
}
