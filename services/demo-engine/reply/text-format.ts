import type { Plan, Step } from '../answer/plan-answer.ts';
import type { AnswerHead, ReplyFormat } from './reply.ts';

export class TextFormat implements ReplyFormat {
  readonly #answer: AnswerHead;
  /** JSON that all events share, serialized once. */
  readonly #sharedJson: string;

  constructor(answer: AnswerHead) {
    const { id, created, model } = answer;
    this.#answer = answer;
    this.#sharedJson = JSON.stringify({ id, object: 'text_completion', created, model }).slice(0, -1);
  }

  writeOpening(): string {
    return '';
  }

  writeStep({ delta }: Step): string {
    return delta.kind === 'content' && delta.text !== '' ? this.#writeChoice(delta.text, null) : '';
  }

  writeEnd({ finish, stop }: Plan): string {
    return this.#writeChoice('', finish, stop);
  }

  writeUsage(usage: object): string {
    return `data: ${this.#sharedJson},"choices":[],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  writeBrokenEvent(): string {
    return `data: ${this.#sharedJson},"choices":[{"index":0,"te\n\n`;
  }

  buildWhole({ steps, finish, stop }: Plan): object {
    const text = steps.map(({ delta }) => (delta.kind === 'content' ? delta.text : '')).join('');
    const choice = { index: 0, text, logprobs: null, finish_reason: finish, stop_reason: stop };
    return { ...this.#answer, object: 'text_completion', choices: [choice] };
  }

  #writeChoice(text: string, reason: string | null, stop: string | null = null): string {
    const choice = { index: 0, text, logprobs: null, finish_reason: reason, stop_reason: stop };
    return `data: ${this.#sharedJson},"choices":[${JSON.stringify(choice)}]}\n\n`;
  }
}
