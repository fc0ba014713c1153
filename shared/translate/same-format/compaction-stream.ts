import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { AnswerWriter } from '../answer-writer.ts';
import { ResponsesAnswerWriter } from '../responses/responses-answer-writer.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { toPieces } from '../upstreams/responses/item-pieces.ts';
import { ResponsesReader } from '../upstreams/responses/responses-reader.ts';

const compactionItem = /"type"\s*:\s*"compaction"/;

/**
 * Relays the answer to a request that compacts its conversation. Holds the answer back until its end. If the answer contains a `compaction`
 * item, sends the upstream's events. Otherwise the text of the answer is a summary and becomes a `compaction` item.
 */
export class CompactionStream implements StreamTranslation {
  readonly keepsEvents = true;
  readonly #answerContext: AnswerContext;
  readonly #relay: StreamTranslation;
  readonly #summary = new SummaryWriter();
  readonly #reader: ResponsesReader;
  #heldEvents = '';
  #hasCompactionItem = false;

  /** @param relay the translation for answers to all other requests */
  constructor(answerContext: AnswerContext, relay: StreamTranslation) {
    this.#answerContext = answerContext;
    this.#relay = relay;
    this.#reader = new ResponsesReader(answerContext, this.#summary);
  }

  get hasContent(): boolean {
    return this.#relay.hasContent;
  }

  translateEvent(data: string): string {
    this.#heldEvents += this.#relay.translateEvent(data);
    this.#hasCompactionItem ||= compactionItem.test(data);
    this.#reader.translateEvent(data);
    return '';
  }

  /** @throws RouterError `upstream_failed` if there is no summary */
  translateEnd(): { text: string; ending: Ending } {
    const { text, ending } = this.#relay.translateEnd();
    if (this.#hasCompactionItem) return { text: this.#heldEvents + text, ending };
    const answer = new ResponsesAnswerWriter(this.#answerContext);
    return { text: answer.begin() + answer.addText(this.#summary.text) + answer.finish(ending), ending };
  }
}

/** Collects the text of an answer, and writes nothing. */
class SummaryWriter implements AnswerWriter {
  readonly hasContent = false;
  text = '';

  addText(text: string): string {
    this.text += text;
    return '';
  }

  begin = writeNothing;
  addRefusal = writeNothing;
  addThinking = writeNothing;
  addCall = writeNothing;
  finish = writeNothing;
}

function writeNothing(): string {
  return '';
}

/**
 * Returns the summary by an upstream that does not compact: the text of its output. Returns undefined for an output with a `compaction`
 * item.
 */
export function readSummary(output: readonly Json[]): string | undefined {
  if (output.some((item) => isJsonObject(item) && item['type'] === 'compaction')) return undefined;
  return toPieces(output)
    .map((piece) => (piece.kind === 'text' ? piece.text : ''))
    .join('');
}
