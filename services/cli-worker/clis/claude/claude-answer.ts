import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import { finishReasonFor } from '#shared/translate/vocabulary/stop-reason.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { AnswerPart, Outcome } from '../../answer/answer-part.ts';

/**
 * Reads what Claude Code prints while it answers: the upstream's events under `stream_event`, whole messages under
 * `assistant`, and a `result` at the end. When the upstream breaks off, Claude Code asks it again without a stream; that is
 * taken while nothing was shown yet, and is a failure after.
 */
export class ClaudeAnswer {
  readonly #onPart: (part: AnswerPart) => void;
  #shown = false;
  /** Seconds until a limit of the account's is over, when it said that it is met. */
  #limitedFor: number | undefined;

  constructor(onPart: (part: AnswerPart) => void) {
    this.#onPart = onPart;
  }

  /**
   * Takes a line.
   * @returns how the answer ended, with its last line
   * @throws RouterError when it failed
   */
  hear(message: JsonObject): Outcome | undefined {
    switch (message['type']) {
      case 'stream_event':
        if (isJsonObject(message['event'])) this.#event(message['event'], message);
        return undefined;
      case 'rate_limit_event':
        this.#limitedFor = secondsOfLimit(message['rate_limit_info']);
        return undefined;
      case 'result':
        return this.#end(message);
      default:
        return undefined;
    }
  }

  #event({ type, delta }: JsonObject, line: JsonObject): void {
    if (line['abandoned_blocks'] !== undefined && this.#shown) {
      throw new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
    }
    if (type !== 'content_block_delta' || !isJsonObject(delta)) return;
    if (delta['type'] === 'text_delta') this.#show('text', delta['text']);
    else if (delta['type'] === 'thinking_delta') this.#show('thinking', delta['thinking']);
  }

  #show(kind: AnswerPart['kind'], text: Json | undefined): void {
    if (typeof text !== 'string' || text === '') return;
    this.#shown = true;
    this.#onPart({ kind, text });
  }

  /** An error of the API is a `success` with `is_error` set. */
  #end(result: JsonObject): Outcome {
    const { subtype, is_error: isError, result: text, stop_reason: stopReason, usage } = result;
    if (isError === true || subtype !== 'success') throw this.#failure(result);
    if (!this.#shown) this.#show('text', text);
    return { finishReason: finishReasonFor(stopReason, false), usage: readMessagesUsage(usage) };
  }

  #failure({ api_error_status: status, result, subtype }: JsonObject): RouterError {
    const sentence = typeof result === 'string' ? result : '';
    if (typeof status !== 'number') {
      // It refuses a prompt that it finds too long by itself.
      if (/prompt is too long/i.test(sentence)) {
        return upstreamError({ status: 400, message: sentence, retryAfter: undefined, overflow: {} });
      }
      return new RouterError('upstream_failed', 'The CLI could not reach its upstream.', {
        cause: sentence === '' ? subtype : sentence,
      });
    }
    return upstreamError({ status, message: sentence, retryAfter: this.#limitedFor });
  }
}

/** What is told of an account's limit: `{status: "rejected", resetsAt}`, in seconds since 1970. */
function secondsOfLimit(info: Json | undefined): number | undefined {
  if (!isJsonObject(info) || info['status'] !== 'rejected' || typeof info['resetsAt'] !== 'number') return undefined;
  return Math.max(1, Math.ceil(info['resetsAt'] - Date.now() / 1000));
}
