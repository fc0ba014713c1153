import type { IncomingHttpHeaders } from 'node:http';
import { holdOpening } from '#shared/translate/hold-opening.ts';
import type { Ending, StreamTranslation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { AnswerListener, Progress } from './exchange.ts';
import { SseReader } from './sse-reader.ts';
import { createErrorBody } from './whole-listener.ts';

/**
 * Receives a streamed answer. Translates and writes each event as soon as its last byte has arrived. Events that arrive together are
 * written in one piece. Events before the first content are written together with that content.
 */
export class StreamListener implements AnswerListener {
  readonly #upstream: HttpUpstreamFormat;
  readonly #translation: StreamTranslation;
  readonly #write: (text: string) => void;
  readonly #grow: ((bytes: number) => void) | undefined;
  readonly #reader = new SseReader();
  readonly #errorBody = createErrorBody();
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #isStream = false;
  /** Whether a finish reason has come. `went on`: the answer has continued after a finish reason, so further finish reasons are ignored. */
  #finishState: 'to come' | 'came' | 'went on' = 'to come';

  /** @param grow counts the bytes of an answer that stays in memory, see `HeldAnswer` */
  constructor(
    upstream: HttpUpstreamFormat,
    translation: StreamTranslation,
    write: (text: string) => void,
    grow?: (bytes: number) => void,
  ) {
    this.#upstream = upstream;
    this.#translation = holdOpening(translation);
    this.#write = write;
    this.#grow = grow;
  }

  onStart(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    this.#isStream = status === 200 && (headers['content-type']?.startsWith('text/event-stream') ?? false);
  }

  onData(chunk: Buffer): Progress {
    if (!this.#isStream) {
      this.#errorBody.add(chunk);
      return 'nothing';
    }
    this.#grow?.(chunk.length);
    return this.#translate(this.#reader.push(chunk));
  }

  /**
   * Writes the end of the answer after all of it has arrived.
   * @throws RouterError for an answer that is an error or incomplete
   */
  end(): Ending {
    // Some engines report an error with status 200, but never as a stream.
    if (!this.#isStream) {
      throw this.#upstream.readError(this.#status === 200 ? 500 : this.#status, this.#errorBody.text(), this.#headers);
    }
    this.#translate(this.#reader.end());
    const { text, ending } = this.#translation.translateEnd();
    this.#write(text);
    return ending;
  }

  /** Translates events. Comments, pings and events before the first content do not count as progress. */
  #translate(events: string[]): Progress {
    let text = '';
    let hasAnswerEvent = false;
    try {
      for (const data of events) {
        const translated = this.#translation.translateEvent(data);
        text += translated;
        const kind = this.#upstream.classifyEvent?.(data) ?? 'answer';
        if (kind === 'last') return 'complete';
        if (kind === 'ping') continue;
        hasAnswerEvent = true;
        if (this.#finishState === 'came' && translated !== '') this.#finishState = 'went on';
        else if (this.#finishState === 'to come' && kind === 'finish' && this.#translation.awaitsChoice !== true)
          this.#finishState = 'came';
      }
    } finally {
      // If an event ends the answer with an error, the events before it are still written.
      if (text !== '') this.#write(text);
    }
    if (!hasAnswerEvent) return 'nothing';
    if (this.#finishState === 'came') return 'finished';
    return this.#translation.hasContent ? 'more' : 'nothing';
  }
}
