import type { Plan, Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { AnswerHead } from './reply.ts';

/** Returns a chat completion in one piece, without its token counts. */
export function wholeCompletion({ id, created, model }: AnswerHead, plan: Plan, demo: DemoOptions) {
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
