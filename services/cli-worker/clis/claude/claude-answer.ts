import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { readMessagesUsage, overlayUsage } from '#shared/formats/messages/usage.ts';
import { toFinishReason } from '#shared/translate/vocabulary/stop-reason.ts';
import { readSpentAllowance } from '#shared/translate/upstreams/limit-texts.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { Outcome } from '../../answer/dialogue.ts';

/**
 * Reads an answer from Claude Code's output: the upstream's events under `stream_event`, and a `result` at the end.
 *
 * The answer has ended when the upstream reports a stop reason. After some stop reasons, Claude Code would go on by itself: it would
 * run tools, or repeat the request for an answer that a limit has cut off.
 */
export class ClaudeAnswer {
  readonly #onEvent: (event: JsonObject) => void;
  #hasStarted = false;
  #hasCalls = false;
  #usage: JsonObject = {};
  /** Seconds until the account's limit ends; undefined if no limit is reached. */
  #secondsUntilReset: number | undefined;

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
        return isJsonObject(message['event']) ? this.#readEvent(message['event']) : undefined;
      case 'rate_limit_event':
        this.#secondsUntilReset = readSecondsUntilReset(message['rate_limit_info']);
        return undefined;
      case 'result':
        throw this.#toError(message);
      default:
        return undefined;
    }
  }

  #readEvent(event: JsonObject): Outcome | undefined {
    const { type, message, content_block: block, delta, usage } = event;
    // When the upstream's stream breaks off, Claude Code ends it with `message_stop`, or sends another request.
    if (type === 'message_stop' || (type === 'message_start' && this.#hasStarted)) throw createBrokenOffError();
    this.#hasStarted ||= type === 'message_start';
    this.#hasCalls ||= isJsonObject(block) && block['type'] === 'tool_use';
    this.#usage = overlayUsage(this.#usage, isJsonObject(message) ? message['usage'] : usage);
    this.#onEvent(event);
    const stopReason = type === 'message_delta' && isJsonObject(delta) ? delta['stop_reason'] : undefined;
    if (typeof stopReason !== 'string') return undefined;
    this.#onEvent({ type: 'message_stop' });
    return { finishReason: toFinishReason(stopReason, this.#hasCalls), usage: readMessagesUsage(this.#usage) };
  }

  /** Returns the error that a `result` reports. If the upstream failed, the result's subtype is `success`, and `is_error` is set. */
  #toError({ api_error_status: status, is_error: isError, result, subtype }: JsonObject): RouterError {
    const message = typeof result === 'string' ? result : '';
    if (typeof status === 'number') {
      return upstreamError({ status, message, retryAfter: this.#secondsUntilReset });
    }
    const spentAllowance = readSpentAllowance(message, this.#secondsUntilReset);
    if (spentAllowance) return upstreamError({ status: 429, message, retryAfter: spentAllowance.retryAfter });
    // Claude Code itself refuses some prompts.
    if (/prompt is too long/i.test(message)) {
      return upstreamError({ status: 400, message, retryAfter: undefined, overflow: {} });
    }
    if (isError !== true) return createBrokenOffError();
    return new RouterError('upstream_failed', 'The CLI could not reach its upstream.', {
      cause: message === '' ? subtype : message,
    });
  }
}

function createBrokenOffError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream closed the stream before its answer was complete.');
}

/**
 * Returns the seconds until a limit that rejects requests ends, at least 1. Returns undefined if no limit rejects requests. `resetsAt` is
 * in seconds since 1970.
 */
function readSecondsUntilReset(info: Json | undefined): number | undefined {
  if (!isJsonObject(info) || info['status'] !== 'rejected' || typeof info['resetsAt'] !== 'number') return undefined;
  return Math.max(1, Math.ceil(info['resetsAt'] - Date.now() / 1000));
}
