import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { Ending, AnswerContext, StreamTranslation } from '../translation.ts';
import { readDelta } from '../upstreams/chat/read-delta.ts';
import { upstreamErrorFromChatEvent } from '../upstreams/chat/upstream-error.ts';
import { parseUpstreamEvent } from '../upstreams/parse-upstream-json.ts';
import { ChatOutput } from './chat-output.ts';

/**
 * Translates a chat upstream's stream for Responses clients. The response begins with the upstream's first event, and ends only when the
 * upstream's stream ends, because the usage may come last.
 */
export class ResponsesToChatStream implements StreamTranslation {
  readonly #output: ChatOutput;
  #hasStarted = false;
  #isDone = false;
  #upstreamFinishReason: Json | undefined;
  #usage: Json | undefined;

  constructor(answerContext: AnswerContext) {
    this.#output = new ChatOutput(answerContext);
  }

  get hasContent(): boolean {
    return this.#output.hasContent;
  }

  event(data: string): string {
    if (data === '[DONE]') {
      this.#isDone = true;
      return '';
    }
    const chunk = parseUpstreamEvent(data);
    const failure = upstreamErrorFromChatEvent(chunk);
    if (failure) throw failure;
    if (isJsonObject(chunk['usage'])) this.#usage = chunk['usage'];
    const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
    if (!isJsonObject(choice)) return '';
    if (typeof choice['finish_reason'] === 'string') this.#upstreamFinishReason = choice['finish_reason'];
    const begin = this.#hasStarted ? '' : this.#output.begin();
    this.#hasStarted = true;
    const delta = readDelta(choice);
    return delta ? begin + this.#output.addMessage(delta, choice['logprobs']) : begin;
  }

  end(): { text: string; ending: Ending } {
    if ((!this.#isDone && this.#upstreamFinishReason === undefined) || !this.#hasStarted) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    return this.#output.finish(this.#upstreamFinishReason, this.#usage);
  }
}
