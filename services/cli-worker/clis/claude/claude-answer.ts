import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import { toFinishReason } from '#shared/translate/vocabulary/stop-reason.ts';
import { readSpentAllowance } from '#shared/translate/upstreams/limit-texts.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { Outcome } from '../../answer/outcome.ts';

/**
 * Reads an answer from Claude Code's output: the upstream's events under `stream_event`, and a `result` at the end.
 *
 * The answer has ended when the upstream reports a stop reason. After some of these reasons Claude Code would go on by itself. It would run
 * tools, or request an answer again that a limit has cut off.
 */
export class ClaudeAnswer {
  readonly #onEvent: (event: JsonObject) => void;
  #started = false;
  #calls = false;
  #usage: JsonObject = {};
  /** Seconds until the account's limit ends; undefined if no limit is reached. */
  #limitedFor: number | undefined;

  /** @param onEvent is called with each event of the upstream's stream */
  constructor(onEvent: (event: JsonObject) => void) {
    this.#onEvent = onEvent;
  }

  /**
   * Reads a message of the CLI.
   * @returns how the answer ended, for the last message; undefined for other messages
   * @throws RouterError if the answer failed
   */
  push(message: JsonObject): Outcome | undefined {
    switch (message['type']) {
      case 'stream_event':
        return isJsonObject(message['event']) ? this.#event(message['event']) : undefined;
      case 'rate_limit_event':
        this.#limitedFor = secondsOfLimit(message['rate_limit_info']);
        return undefined;
      case 'result':
        throw this.#failure(message);
      default:
        return undefined;
    }
  }

  #event(event: JsonObject): Outcome | undefined {
    const { type, message, content_block: block, delta, usage } = event;
    // When the upstream's stream breaks off, Claude Code ends it with `message_stop`, or sends another request.
    if (type === 'message_stop' || (type === 'message_start' && this.#started)) throw brokenOff();
    this.#started ||= type === 'message_start';
    this.#calls ||= isJsonObject(block) && block['type'] === 'tool_use';
    this.#usage = overlayUsage(this.#usage, isJsonObject(message) ? message['usage'] : usage);
    this.#onEvent(event);
    const stopReason = type === 'message_delta' && isJsonObject(delta) ? delta['stop_reason'] : undefined;
    if (typeof stopReason !== 'string') return undefined;
    this.#onEvent({ type: 'message_stop' });
    return { finishReason: toFinishReason(stopReason, this.#calls), usage: readMessagesUsage(this.#usage) };
  }

  /** Returns the error that a `result` reports. If the upstream failed, its subtype is `success`, and `is_error` is set. */
  #failure({ api_error_status: status, is_error: isError, result, subtype }: JsonObject): RouterError {
    const sentence = typeof result === 'string' ? result : '';
    if (typeof status === 'number') {
      return upstreamError({ status, message: sentence, retryAfter: this.#limitedFor });
    }
    const spent = readSpentAllowance(sentence, this.#limitedFor);
    if (spent) return upstreamError({ status: 429, message: sentence, retryAfter: spent.retryAfter });
    // Claude Code itself refuses some prompts.
    if (/prompt is too long/i.test(sentence)) {
      return upstreamError({ status: 400, message: sentence, retryAfter: undefined, overflow: {} });
    }
    if (isError !== true) return brokenOff();
    return new RouterError('upstream_failed', 'The CLI could not reach its upstream.', {
      cause: sentence === '' ? subtype : sentence,
    });
  }
}

function brokenOff(): RouterError {
  return new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
}

/** Reads `{status: "rejected", resetsAt}`, in seconds since 1970, and returns the seconds until then, at least 1. */
function secondsOfLimit(info: Json | undefined): number | undefined {
  if (!isJsonObject(info) || info['status'] !== 'rejected' || typeof info['resetsAt'] !== 'number') return undefined;
  return Math.max(1, Math.ceil(info['resetsAt'] - Date.now() / 1000));
}
