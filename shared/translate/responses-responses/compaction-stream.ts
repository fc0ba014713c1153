import { isJsonObject, type Json } from '#shared/core/json.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { piecesOfItems } from '../upstreams/responses/item-pieces.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';

const compacted = /"type"\s*:\s*"compaction"/;

/**
 * Relays the answer to a request that compacts its conversation. Holds the answer back until its end. If the upstream has written a
 * `compaction` item by then, its events are sent. Otherwise its summary becomes such an item.
 */
export class CompactionStream implements StreamTranslation {
  readonly #answerContext: AnswerContext;
  readonly #relay: StreamTranslation;
  readonly #reader = new ResponsesReader();
  #held = '';
  #summary = '';
  #isCompacted = false;

  /** @param relay the translation that answers to other requests get */
  constructor(answerContext: AnswerContext, relay: StreamTranslation) {
    this.#answerContext = answerContext;
    this.#relay = relay;
  }

  get hasContent(): boolean {
    return this.#relay.hasContent;
  }

  event(data: string): string {
    this.#held += this.#relay.event(data);
    this.#isCompacted ||= compacted.test(data);
    for (const piece of this.#reader.read(data)) if (piece.kind === 'text') this.#summary += piece.text;
    return '';
  }

  /** @throws RouterError `upstream_failed` if there is no summary */
  end(): { text: string; ending: Ending } {
    const { text, ending } = this.#relay.end();
    if (this.#isCompacted) return { text: this.#held + text, ending };
    const answer = new ResponsesAnswerWriter(this.#answerContext);
    return { text: answer.begin() + answer.text(this.#summary) + answer.finish(ending), ending };
  }
}

/** Returns the summary of an upstream that does not compact; undefined for an output with a `compaction` item. */
export function readSummary(output: readonly Json[]): string | undefined {
  if (output.some((item) => isJsonObject(item) && item['type'] === 'compaction')) return undefined;
  return piecesOfItems(output)
    .map((piece) => (piece.kind === 'text' ? piece.text : ''))
    .join('');
}
