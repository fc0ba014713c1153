import type { Plan, Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { AnswerHead } from './reply.ts';

/** Returns a chat completion in one piece, without its token counts. */
export function buildWholeCompletion({ id, created, model }: AnswerHead, plan: Plan, demo: DemoOptions) {
  const hidesCalls = plan.finish === 'tool_calls' && demo.finish_stop;
  const choice = {
    index: 0,
    message: buildMessage(plan, demo),
    logprobs: null,
    finish_reason: hidesCalls ? 'stop' : plan.finish,
    stop_reason: plan.stop,
  };
  return { id, object: 'chat.completion', created, model, choices: [choice] };
}

function buildMessage({ steps }: Plan, demo: DemoOptions): object {
  const joinTexts = (kind: 'reasoning' | 'content'): string =>
    steps.map(({ delta }) => (delta.kind === kind ? delta.text : '')).join('');
  const reasoning = joinTexts('reasoning');
  const content = joinTexts('content');
  const calls = joinToolCalls(steps);
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(reasoning === '' ? {} : { [demo.reasoning_field]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function joinToolCalls(steps: readonly Step[]) {
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
