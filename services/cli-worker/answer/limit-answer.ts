import { estimateTokensOfBytes } from '#shared/formats/estimate-tokens.ts';
import type { AnswerPart, TextPart } from '../clis/cli.ts';
import type { AnswerLimiter } from './dialogue.ts';

export interface AnswerLimits {
  /** Maximum tokens of text, thinking and calls together. The worker estimates them. */
  maxTokens?: number | undefined;
  /** Texts that end the answer, which is cut off before the first of them. */
  stop: readonly string[];
}

/**
 * Ends an answer at its client's limits, which CLIs do not support. Holds text back while that text may be the beginning of a stop text.
 * Drops a call that exceeds the token limit.
 */
export class AnswerLimit implements AnswerLimiter<AnswerPart> {
  ended: 'stop' | 'length' | undefined;
  readonly #limits: AnswerLimits;
  readonly #longestStop: number;
  #bytes = 0;
  #keptBack = '';

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#longestStop = Math.max(0, ...limits.stop.map(({ length }) => length));
  }

  push(part: AnswerPart): AnswerPart[] {
    if (this.ended !== undefined) return [];
    const parts: AnswerPart[] = part.kind === 'text' ? this.#text(part.text) : [...this.end(), part];
    return parts.flatMap((each) => this.#count(each));
  }

  end(): AnswerPart[] {
    const text = this.#keptBack;
    this.#keptBack = '';
    return text === '' || this.ended === 'stop' ? [] : [{ kind: 'text', text }];
  }

  #text(piece: string): AnswerPart[] {
    const text = this.#keptBack + piece;
    const found = this.#limits.stop.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
    if (found.length > 0) {
      this.ended = 'stop';
      this.#keptBack = '';
      return asPart(text.slice(0, Math.min(...found)));
    }
    const kept = this.#beginningOfStop(text);
    this.#keptBack = text.slice(text.length - kept);
    return asPart(text.slice(0, text.length - kept));
  }

  /** Returns the number of characters at the end of a text that may be the beginning of a stop text. */
  #beginningOfStop(text: string): number {
    for (let length = Math.min(text.length, this.#longestStop - 1); length > 0; length -= 1) {
      const end = text.slice(text.length - length);
      if (this.#limits.stop.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  /** Counts the tokens of a part and returns the part, cut at the token limit. */
  #count(part: AnswerPart): AnswerPart[] {
    const { maxTokens } = this.#limits;
    if (this.ended === 'length') return [];
    const bytes = Buffer.byteLength(part.kind === 'call' ? part.name + part.arguments : part.text);
    if (maxTokens === undefined || estimateTokensOfBytes(this.#bytes + bytes) <= maxTokens) {
      this.#bytes += bytes;
      return [part];
    }
    this.ended = 'length';
    if (part.kind === 'call') return [];
    // Drops a character that the limit would split.
    const left = Buffer.from(part.text).subarray(0, maxTokens * 4 - this.#bytes);
    return asPart(new TextDecoder().decode(left, { stream: true })).map(({ text }) => ({ kind: part.kind, text }));
  }
}

function asPart(text: string): TextPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
