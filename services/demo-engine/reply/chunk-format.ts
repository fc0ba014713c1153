import type { Plan, Step } from '../answer/plan-answer.ts';
import type { DemoOptions } from '../request/demo-options.ts';
import type { AnswerHead, ReplyForm } from './reply.ts';
import { wholeCompletion } from './whole-completion.ts';

/** Writes a chat completion, streamed or whole, as vLLM does, unless the options choose a variant. */
export class ChunkFormat implements ReplyForm {
  readonly #demo: DemoOptions;
  readonly #answer: AnswerHead;
  /** JSON that all chunks share, serialized once. */
  readonly #head: string;

  constructor(answer: AnswerHead, demo: DemoOptions) {
    const { id, created, model } = answer;
    this.#demo = demo;
    this.#answer = answer;
    this.#head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  }

  role(): string {
    return this.#choice({ role: 'assistant', content: '' }, null);
  }

  step({ delta }: Step): string {
    if ('text' in delta && delta.text === '') return '';
    const fields = this.#delta(delta);
    return this.#choice(this.#demo.role_on_every_delta ? { role: 'assistant', ...fields } : fields, null);
  }

  finish(plan: Plan): string {
    const reason = plan.finish === 'tool_calls' && this.#demo.finish_stop ? 'stop' : plan.finish;
    return this.#choice({}, reason, plan.stop);
  }

  usage(usage: object): string {
    return `data: ${this.#head},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  broken(): string {
    return `data: ${this.#head},"choices":[{"index":0,"delta":{"conte\n\n`;
  }

  whole(plan: Plan): object {
    return wholeCompletion(this.#answer, plan, this.#demo);
  }

  #delta(delta: Step['delta']): object {
    if (delta.kind === 'reasoning') return { [this.#demo.reasoning_field]: delta.text };
    if (delta.kind === 'content') return { content: delta.text };
    if (delta.kind === 'tool_arguments') {
      return { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] };
    }
    const { index, id, name } = delta;
    return { tool_calls: [{ index, id, type: 'function', function: { name, arguments: delta.arguments } }] };
  }

  #choice(delta: object, finishReason: string | null, stop?: string | null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finishReason };
    const complete = stop === undefined ? choice : { ...choice, stop_reason: stop };
    return `data: ${this.#head},"choices":[${JSON.stringify(complete)}]}\n\n`;
  }
}
