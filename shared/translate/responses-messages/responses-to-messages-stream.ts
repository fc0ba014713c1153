import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { overlayUsage } from '#shared/formats/messages/usage.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { upstreamErrorFromMessagesEvent } from '../upstreams/messages/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { MessagesOutput } from './messages-output.ts';

/** Translates a `messages` upstream's stream for Responses clients. Omits pings and citations. */
export class ResponsesToMessagesStream implements StreamTranslation {
  readonly #output: MessagesOutput;
  #hasStarted = false;
  #isComplete = false;
  /** `stop_reason` and `stop_details`, once the upstream has sent them. */
  #stopFields: JsonObject = {};
  #usage: JsonObject = {};

  constructor(answerContext: AnswerContext) {
    this.#output = new MessagesOutput(answerContext);
  }

  get hasContent(): boolean {
    return this.#output.hasContent;
  }

  event(data: string): string {
    const event = parseUpstreamEvent(data);
    const { type, index, content_block: block, delta, message } = event;
    switch (type) {
      case 'message_start':
        if (isJsonObject(message)) this.#usage = overlayUsage(this.#usage, message['usage']);
        return this.#begin();
      case 'content_block_start':
        return this.#begin() + (isJsonObject(block) ? this.#output.openBlock(index, block) : '');
      case 'content_block_delta':
        return isJsonObject(delta) ? this.#output.addDelta(index, delta) : '';
      case 'content_block_stop':
        return this.#output.closeBlock(index);
      case 'message_delta':
        this.#usage = overlayUsage(this.#usage, event['usage']);
        if (isJsonObject(delta) && typeof delta['stop_reason'] === 'string') this.#stopFields = delta;
        return '';
      case 'message_stop':
        this.#isComplete = true;
        return '';
      case 'error':
        throw upstreamErrorFromMessagesEvent(event);
      default:
        return '';
    }
  }

  end(): { text: string; ending: Ending } {
    if (!this.#hasStarted || (!this.#isComplete && this.#stopFields['stop_reason'] === undefined)) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    return this.#output.finish(this.#stopFields, this.#usage);
  }

  #begin(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return this.#output.begin();
  }
}
