import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { deltaOf } from '../upstreams/chat/delta-of.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { ChatOutput } from './chat-output.ts';

/**
 * Translates a chat upstream's stream for Responses clients. The response begins with the upstream's first event. It ends with the
 * upstream's stream, because the usage may come last.
 */
export class ResponsesToChatStream implements StreamTranslation {
  readonly #output: ChatOutput;
  #started = false;
  #done = false;
  #finish: Json | undefined;
  #usage: Json | undefined;

  constructor(answerContext: AnswerContext) {
    this.#output = new ChatOutput(answerContext);
  }

  get hasContent(): boolean {
    return this.#output.hasContent;
  }

  event(data: string): string {
    if (data === '[DONE]') {
      this.#done = true;
      return '';
    }
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    if (isJsonObject(chunk['usage'])) this.#usage = chunk['usage'];
    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) return '';
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    const begin = this.#started ? '' : this.#output.begin();
    this.#started = true;
    const delta = deltaOf(choice);
    return delta ? begin + this.#output.add(delta, choice['logprobs']) : begin;
  }

  end(): { text: string; ending: Ending } {
    if ((!this.#done && this.#finish === undefined) || !this.#started) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    return this.#output.finish(this.#finish, this.#usage);
  }
}
