import { CannotContinue } from '#shared/core/errors.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamEvent } from '#shared/translate/upstreams/parse-upstream-json.ts';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import type { UpstreamText } from './upstream-text.ts';

export interface ContinuedStreamParts {
  /** The translation of a new stream with the answer's id and beginning. */
  translation: StreamTranslation;
  upstreamText: UpstreamText;
  /** The part of the answer that the client already has. */
  relayed: Pick<RelayedAnswer, 'pieces' | 'events'>;
  /** The end of the client's part that the upstream did not get. The upstream therefore generates this text again. */
  repeatedText: string;
  /** Computes the usage of the whole answer from the usage that the upstream reports for the continuation. */
  computeUsage: (reported: JsonObject) => JsonObject;
}

/**
 * Translates the stream of an upstream that continues an answer. First translates the client's part again, without sending it. The
 * translation then has the state in which the client's stream stopped, so that indices, open blocks, event numbers and the final events are
 * those of the whole answer. Then removes the repeated text from the upstream's stream. If other text comes in place of the repeated text,
 * the answer ends with an error, because it would be wrong.
 */
export class ContinuedStream implements StreamTranslation {
  readonly #parts: ContinuedStreamParts;
  /** The text that the upstream must still repeat. */
  #textToRepeat: string;
  /** Whether the upstream's stream has passed the repeated text. */
  #hasJoined = false;

  /** @throws CannotContinue if the client's part now translates to another number of events than the client got */
  constructor(parts: ContinuedStreamParts) {
    const { translation, upstreamText, relayed, repeatedText } = parts;
    this.#parts = parts;
    this.#textToRepeat = repeatedText;
    const opening =
      upstreamText.openingEvent === undefined ? '' : translation.translateEvent(upstreamText.openingEvent);
    const replayedEvents =
      opening + relayed.pieces.map((piece) => translation.translateEvent(upstreamText.writeTextEvent(piece))).join('');
    const events = replayedEvents.split('\n\n').length - 1;
    if (relayed.events !== undefined && relayed.events !== events)
      throw new CannotContinue('refused', 'The answer cannot be continued: its events were numbered otherwise.');
  }

  get hasContent(): boolean {
    return this.#hasJoined && this.#parts.translation.hasContent;
  }

  translateEvent(data: string): string {
    const { translation } = this.#parts;
    if (data === '[DONE]') return translation.translateEvent(data);
    if (this.#hasJoined && !data.includes('"usage"')) return translation.translateEvent(data);
    const chunk = parseUpstreamEvent(data);
    const chunkWithUsage = this.#replaceUsage(chunk);
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'] : [];
    if (this.#hasJoined || !isJsonObject(choice)) return translation.translateEvent(JSON.stringify(chunkWithUsage));
    const newChoice = this.#removeRepeatedText(choice);
    return newChoice ? translation.translateEvent(JSON.stringify({ ...chunkWithUsage, choices: [newChoice] })) : '';
  }

  translateEnd(): { text: string; ending: Ending } {
    if (this.#textToRepeat !== '')
      throw createMismatchError('the upstream ended before the text that it was to repeat');
    return this.#parts.translation.translateEnd();
  }

  /** Removes the repeated text from a choice. Returns undefined if nothing remains of the choice. */
  #removeRepeatedText(choice: JsonObject): JsonObject | undefined {
    const { upstreamText } = this.#parts;
    const hasEnded = typeof choice['finish_reason'] === 'string';
    const added = upstreamText.readAddedContent(choice);
    if (added.kind === 'thinking') throw createMismatchError('the upstream begins to think anew');
    if (added.kind === 'other' && this.#textToRepeat !== '')
      throw createMismatchError('the upstream goes on with something else');
    if (added.kind === 'other') {
      this.#hasJoined = true;
      return choice;
    }
    const length = Math.min(this.#textToRepeat.length, added.text.length);
    if (!this.#textToRepeat.startsWith(added.text.slice(0, length)))
      throw createMismatchError('the upstream goes on with another text');
    const rest = added.text.slice(length);
    this.#textToRepeat = this.#textToRepeat.slice(length);
    if (hasEnded && this.#textToRepeat !== '')
      throw createMismatchError('the upstream ends before the text that it was to repeat');
    if (rest === '' && !hasEnded) return undefined;
    this.#hasJoined = true;
    return upstreamText.replaceText(choice, rest);
  }

  #replaceUsage(chunk: JsonObject): JsonObject {
    const { usage } = chunk;
    return isJsonObject(usage) ? { ...chunk, usage: this.#parts.computeUsage(usage) } : chunk;
  }
}

function createMismatchError(message: string): CannotContinue {
  return new CannotContinue('mismatch', `The answer cannot be continued: ${message}.`);
}
