import type { Plan, Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { AnswerHead, ReplyFormat } from './reply.ts';

/** Writes a chat completion, streamed or whole. Imitates vLLM, unless the options choose a variant. */
export class ChunkFormat implements ReplyFormat {
  readonly #demo: DemoOptions;
  readonly #answer: AnswerHead;
  /** JSON that all chunks share, serialized once. */
  readonly #sharedJson: string;

  constructor(answer: AnswerHead, demo: DemoOptions) {
    const { id, created, model } = answer;
    this.#demo = demo;
    this.#answer = answer;
    this.#sharedJson = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  }

  writeOpening(): string {
    return this.#writeChoice({ role: 'assistant', content: '' }, null);
  }

  writeStep({ delta }: Step): string {
    if ('text' in delta && delta.text === '') return '';
    const fields = this.#toDeltaFields(delta);
    return this.#writeChoice(this.#demo.role_on_every_delta ? { role: 'assistant', ...fields } : fields, null);
  }

  writeEnd(plan: Plan): string {
    const reason = plan.finish === 'tool_calls' && this.#demo.finish_stop ? 'stop' : plan.finish;
    return this.#writeChoice({}, reason, plan.stop);
  }

  writeUsage(usage: object): string {
    return `data: ${this.#sharedJson},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  writeBrokenEvent(): string {
    return `data: ${this.#sharedJson},"choices":[{"index":0,"delta":{"conte\n\n`;
  }

  buildWhole(plan: Plan): object {
    return buildWholeCompletion(this.#answer, plan, this.#demo);
  }

  #toDeltaFields(delta: Step['delta']): object {
    if (delta.kind === 'reasoning') return { [this.#demo.reasoning_field]: delta.text };
    if (delta.kind === 'content') return { content: delta.text };
    if (delta.kind === 'tool_arguments') {
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
    }
    const { index, id, name } = delta;
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: delta.arguments } }] };
  }

  #writeChoice(delta: object, finishReason: string | null, stop?: string | null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    const choiceWithStop = stop === undefined ? choice : { ...choice, stop_reason: stop };
    return `data: ${this.#sharedJson},"choices":[${JSON.stringify(choiceWithStop)}]}\n\n`;
  }
}

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
