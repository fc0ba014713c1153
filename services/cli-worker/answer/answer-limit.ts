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
 * Ends an answer at its client's limits, which CLIs do not support. Holds text back while it may be the beginning of a stop text.
 * Drops a call that exceeds the token limit.
 */
export class AnswerLimit implements AnswerLimiter<AnswerPart> {
  reachedLimit: 'stop' | 'length' | undefined;
  readonly #limits: AnswerLimits;
  readonly #maxStopLength: number;
  #countedBytes = 0;
  #heldText = '';

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#maxStopLength = Math.max(0, ...limits.stop.map(({ length }) => length));
  }

  push(part: AnswerPart): AnswerPart[] {
    if (this.reachedLimit !== undefined) return [];
    const parts: AnswerPart[] = part.kind === 'text' ? this.#addText(part.text) : [...this.end(), part];
    return parts.flatMap((piece) => this.#cutAtTokenLimit(piece));
  }

  end(): AnswerPart[] {
    const text = this.#heldText;
    this.#heldText = '';
    return text === '' || this.reachedLimit === 'stop' ? [] : [{ kind: 'text', text }];
  }

  #addText(piece: string): AnswerPart[] {
    const text = this.#heldText + piece;
    const positions = this.#limits.stop.map((stop) => text.indexOf(stop)).filter((at) => at !== -1);
    if (positions.length > 0) {
      this.reachedLimit = 'stop';
      this.#heldText = '';
      return toParts(text.slice(0, Math.min(...positions)));
    }
    const heldLength = this.#findPossibleStop(text);
    this.#heldText = text.slice(text.length - heldLength);
    return toParts(text.slice(0, text.length - heldLength));
  }

  /** Returns the number of characters at the end of a text that may be the beginning of a stop text. */
  #findPossibleStop(text: string): number {
    for (let length = Math.min(text.length, this.#maxStopLength - 1); length > 0; length -= 1) {
      const end = text.slice(text.length - length);
      if (this.#limits.stop.some((stop) => stop.startsWith(end))) return length;
    }
    return 0;
  }

  /** Counts the tokens of a part and returns the part, cut at the token limit. */
  #cutAtTokenLimit(part: AnswerPart): AnswerPart[] {
    const { maxTokens } = this.#limits;
    if (this.reachedLimit === 'length') return [];
    const bytes = Buffer.byteLength(part.kind === 'call' ? part.name + part.arguments : part.text);
    if (maxTokens === undefined || estimateTokensOfBytes(this.#countedBytes + bytes) <= maxTokens) {
      this.#countedBytes += bytes;
      return [part];
    }
    this.reachedLimit = 'length';
    if (part.kind === 'call') return [];
    // Drops a character that the limit would split.
    const remainingBytes = Buffer.from(part.text).subarray(0, maxTokens * 4 - this.#countedBytes);
    return toParts(new TextDecoder().decode(remainingBytes, { stream: true })).map(({ text }) => ({
      kind: part.kind,
      text,
    }));
  }
}

function toParts(text: string): TextPart[] {
  return text === '' ? [] : [{ kind: 'text', text }];
}
