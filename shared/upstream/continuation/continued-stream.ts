import { CannotContinue } from '#shared/core/cannot-continue.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamEvent } from '#shared/translate/upstreams/parse-upstream-json.ts';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import type { UpstreamText } from './upstream-text.ts';

export interface ContinuedStreamParts {
  /** The translation of a new stream of the same answer, with the answer's id and beginning. */
  translation: StreamTranslation;
  text: UpstreamText;
  /** The part of the answer that the client already has. */
  relayed: Pick<RelayedAnswer, 'pieces' | 'events'>;
  /** The end of that part, which the upstream generates again because it did not get that text. */
  again: string;
  /** Computes the usage of the whole answer from the upstream's. */
  usage: (reported: JsonObject) => JsonObject;
}

/**
 * Translates the stream of an upstream that continues an answer. First, the translation gets the client's text, and its output is dropped.
 * The translation is then in the state in which the client's stream stopped, so that indices, open blocks, event numbers and the final
 * events are those of the whole answer. Then the repeated text is removed from the upstream's stream. If other text comes instead, the
 * answer ends with an error, because it would be wrong.
 */
export class ContinuedStream implements StreamTranslation {
  readonly #parts: ContinuedStreamParts;
  /** The text that must still be repeated. */
  #again: string;
  #hasJoined = false;

  /** @throws CannotContinue if the client's part would now have another number of events */
  constructor(parts: ContinuedStreamParts) {
    const { translation, text, relayed, again } = parts;
    this.#parts = parts;
    this.#again = again;
    const opening = text.opening === undefined ? '' : translation.event(text.opening);
    const replayed = opening + relayed.pieces.map((piece) => translation.event(text.chunk(piece))).join('');
    const events = replayed.split('\n\n').length - 1;
    if (relayed.events !== undefined && relayed.events !== events)
      throw new CannotContinue('refused', 'The answer cannot be continued: its events were numbered otherwise.');
  }

  get hasContent(): boolean {
    return this.#hasJoined && this.#parts.translation.hasContent;
  }

  event(data: string): string {
    const { translation } = this.#parts;
    if (data === '[DONE]') return translation.event(data);
    if (this.#hasJoined && !data.includes('"usage"')) return translation.event(data);
    const chunk = parseUpstreamEvent(data);
    const counted = this.#counted(chunk);
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    if (this.#hasJoined || !isJsonObject(choice)) return translation.event(JSON.stringify(counted));
    const joined = this.#join(choice);
    return joined ? translation.event(JSON.stringify({ ...counted, choices: [joined] })) : '';
  }

  end(): { text: string; ending: Ending } {
    if (this.#again !== '') throw mismatch('the upstream ended before the text that it was to repeat');
    return this.#parts.translation.end();
  }

  /** Removes the client's text from a choice; undefined if the choice adds nothing to it. */
  #join(choice: JsonObject): JsonObject | undefined {
    const { text } = this.#parts;
    const hasEnded = typeof choice['finish_reason'] === 'string';
    const added = text.added(choice);
    if (added.kind === 'thinking') throw mismatch('the upstream begins to think anew');
    if (added.kind === 'other' && this.#again !== '') throw mismatch('the upstream goes on with something else');
    if (added.kind === 'other') {
      this.#hasJoined = true;
      return choice;
    }
    const length = Math.min(this.#again.length, added.text.length);
    if (!this.#again.startsWith(added.text.slice(0, length))) throw mismatch('the upstream goes on with another text');
    const rest = added.text.slice(length);
    this.#again = this.#again.slice(length);
    if (hasEnded && this.#again !== '') throw mismatch('the upstream ends before the text that it was to repeat');
    if (rest === '' && !hasEnded) return undefined;
    this.#hasJoined = true;
    return text.withText(choice, rest);
  }

  #counted(chunk: JsonObject): JsonObject {
    const { usage } = chunk;
    return isJsonObject(usage) ? { ...chunk, usage: this.#parts.usage(usage) } : chunk;
  }
}

function mismatch(message: string): CannotContinue {
  return new CannotContinue('mismatch', `The answer cannot be continued: ${message}.`);
}
