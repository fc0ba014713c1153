import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import type { AnswerPart } from './answer-part.ts';

export interface AnswerLimits {
  /** Tokens of text and thinking together, counted roughly. */
  maxTokens?: number | undefined;
  /** Texts at which the answer ends; they are not part of it. */
  stop: readonly string[];
}

/**
 * Ends an answer where its client wants it to end, for CLIs cannot be told. Text that may be the beginning of a stop text is
 * held back until it is clear whether it is.
 */
export class LimitedAnswer {
  /** Why the answer has ended here; undefined while it goes on. */
  ended: 'stop' | 'length' | undefined;
  readonly #limits: AnswerLimits;
  readonly #longestStop: number;
  #bytes = 0;
  #held = '';

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#longestStop = Math.max(0, ...limits.stop.map(({ length }) => length));
  }

  /** Takes a piece of the answer and returns what of it, and of what was held, the client gets. */
  push(part: AnswerPart): AnswerPart[] {
    if (this.ended !== undefined) return [];
    const parts: AnswerPart[] = part.kind === 'text' ? this.#text(part.text) : [...this.end(), part];
    return parts.flatMap((each) => this.#count(each));
  }

  /** What was held, for the model has written its last. */
  end(): AnswerPart[] {
    const text = this.#held;
    this.#held = '';
    return text === '' || this.ended === 'stop' ? [] : [{ kind: 'text', text }];
  }

  #text(piece: string): AnswerPart[] {
    const text = this.#held + piece;
    const found = this.#limits.stop.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
    if (found.length > 0) {
      this.ended = 'stop';
      this.#held = '';
      return asPart(text.slice(0, Math.min(...found)));
    }
    const kept = this.#beginningOfStop(text);
    this.#held = text.slice(text.length - kept);
    return asPart(text.slice(0, text.length - kept));
  }

  /** How many characters at the end may begin a stop text. */
  #beginningOfStop(text: string): number {
    for (let length = Math.min(text.length, this.#longestStop - 1); length > 0; length -= 1) {
      const end = text.slice(text.length - length);
      if (this.#limits.stop.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  /** The part, cut where the tokens are used up. */
  #count(part: AnswerPart): AnswerPart[] {
    const { maxTokens } = this.#limits;
    if (this.ended === 'length') return [];
    const bytes = Buffer.byteLength(part.text);
    if (maxTokens === undefined || estimateTokensOfBytes(this.#bytes + bytes) <= maxTokens) {
      this.#bytes += bytes;
      return [part];
    }
    this.ended = 'length';
    // Never half a character: what is cut off in the middle of one is left out.
    const left = Buffer.from(part.text).subarray(0, maxTokens * 4 - this.#bytes);
    return asPart(new TextDecoder().decode(left, { stream: true })).map(({ text }) => ({ kind: part.kind, text }));
  }
}

function asPart(text: string): AnswerPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
