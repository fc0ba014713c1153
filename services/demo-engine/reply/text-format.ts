import type { Plan, Step } from '../answer/plan-answer.ts';
import type { AnswerHead, ReplyForm } from './reply.ts';

export class TextFormat implements ReplyForm {
  readonly #answer: AnswerHead;
  /** JSON that all events share, serialized once. */
  readonly #head: string;

  constructor(answer: AnswerHead) {
    const { id, created, model } = answer;
    this.#answer = answer;
    this.#head = JSON.stringify({ id, object: 'text_completion', created, model }).slice(0, -1);
  }

  role(): string {
    return '';
  }

  step({ delta }: Step): string {
    return delta.kind === 'content' && delta.text !== '' ? this.#choice(delta.text, null) : '';
  }

  finish({ finish, stop }: Plan): string {
    return this.#choice('', finish, stop);
  }

  usage(usage: object): string {
    return `data: ${this.#head},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  broken(): string {
    return `data: ${this.#head},"choices":[{"index":0,"te\n\n`;
  }

  whole({ steps, finish, stop }: Plan): object {
    const text = steps.map(({ delta }) => (delta.kind === 'content' ? delta.text : '')).join('');
    const choice = { index: 0, text, logprobs: null, finish_reason: finish, stop_reason: stop };
    return { ...this.#answer, object: 'text_completion', choices: [choice] };
  }

  #choice(text: string, reason: string | null, stop: string | null = null): string {
    const choice = { index: 0, text, logprobs: null, finish_reason: reason, stop_reason: stop };
    return `data: ${this.#head},"choices":[${JSON.stringify(choice)}]}\n\n`;
  }
}
