import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readMessagesUsage } from '#shared/formats/messages/usage.ts';
import { finishReasonFor } from '#shared/translate/vocabulary/stop-reason.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { AnswerPart, Outcome } from '../cli.ts';

/**
 * Reads an answer from Claude Code's output: the upstream's events under `stream_event`, whole messages under `assistant`,
 * and a `result` at the end. When the upstream's stream breaks off, Claude Code asks again without a stream. The second
 * answer counts as long as nothing of the first was shown; after that it is a failure.
 */
export class ClaudeAnswer {
  readonly #onPart: (part: AnswerPart) => void;
  #shown = false;
  /** Seconds until the account's limit ends; undefined when none is reached. */
  #limitedFor: number | undefined;

  constructor(onPart: (part: AnswerPart) => void) {
    this.#onPart = onPart;
  }

  /**
   * Takes a message.
   * @returns how the answer ended, for the last message
   * @throws RouterError when the answer failed
   */
  push(message: JsonObject): Outcome | undefined {
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
    else if (delta['type'] === 'signature_delta') this.#show('signature', delta['signature']);
  }

  #show(kind: AnswerPart['kind'], text: Json | undefined): void {
    if (typeof text !== 'string' || text === '') return;
    this.#shown = true;
    this.#onPart({ kind, text });
  }

  /** An error of the upstream is a `success` with `is_error` set. */
  #end(result: JsonObject): Outcome {
    const { subtype, is_error: isError, result: text, stop_reason: stopReason, usage } = result;
    if (isError === true || subtype !== 'success') throw this.#failure(result);
    if (!this.#shown) this.#show('text', text);
    return { finishReason: finishReasonFor(stopReason, false), usage: readMessagesUsage(usage) };
  }

  #failure({ api_error_status: status, result, subtype }: JsonObject): RouterError {
    const sentence = typeof result === 'string' ? result : '';
    if (typeof status !== 'number') {
      // Claude Code refuses some prompts by itself.
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

/** Reads `{status: "rejected", resetsAt}`, which is in seconds since 1970. */
function secondsOfLimit(info: Json | undefined): number | undefined {
  if (!isJsonObject(info) || info['status'] !== 'rejected' || typeof info['resetsAt'] !== 'number') return undefined;
  return Math.max(1, Math.ceil(info['resetsAt'] - Date.now() / 1000));
}
