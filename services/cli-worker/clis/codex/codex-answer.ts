import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import { type AnswerPart, type AnswerTools, type TextPart, readErrorText } from '../cli.ts';
import type { Outcome } from '../../answer/dialogue.ts';

/**
 * Reads the app server's notifications about one turn: pieces, calls of tools, token counts, and the end.
 *
 * An answer with calls is complete when the upstream's response is complete, because the client runs the tools. Codex then waits for the
 * tools' results until the turn is interrupted.
 */
export class CodexAnswer {
  /** Undefined until the turn has begun. */
  turnId: string | undefined;
  /** How the turn ended. Rejects with a RouterError if it failed. */
  readonly finalOutcome: Promise<Outcome>;
  readonly #threadId: string;
  readonly #onPart: (part: AnswerPart) => void;
  readonly #tools: AnswerTools;
  /** Called when the answer is complete although the turn has not ended. */
  readonly #onComplete: () => void;
  readonly #settle: { resolve: (outcome: Outcome) => void; reject: (error: RouterError) => void };
  #usage: Usage | undefined;
  #hasText = false;
  #callCount = 0;
  #isComplete = false;
  /** When the account's used-up limits are reset, in seconds since 1970; undefined if none is known to be used up. */
  #resetsAt: number | undefined;

  constructor(
    threadId: string,
    onPart: (part: AnswerPart) => void,
    tools: AnswerTools = { names: new Map(), parallel: true },
    onComplete: () => void = () => undefined,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.finalOutcome = promise;
    // The promise may reject before anything waits for it.
    promise.catch(() => undefined);
    this.#settle = { resolve, reject };
    this.#threadId = threadId;
    this.#onPart = onPart;
    this.#tools = tools;
    this.#onComplete = onComplete;
  }

  /** Reads a notification. Ignores notifications about other threads. */
  push(method: string, params: JsonObject): void {
    // This notification concerns the account, not a thread.
    if (method === 'account/rateLimits/updated') this.#resetsAt = readResetTime(params['rateLimits']);
    if (params['threadId'] !== this.#threadId || (this.#isComplete && method !== 'turn/completed')) return;
    switch (method) {
      case 'turn/started':
        if (isJsonObject(params['turn']) && typeof params['turn']['id'] === 'string')
          this.turnId = params['turn']['id'];
        break;
      case 'item/agentMessage/delta':
        this.#sendText('text', params['delta']);
        break;
      case 'item/reasoning/summaryTextDelta':
      case 'item/reasoning/textDelta':
        this.#sendText('thinking', params['delta']);
        break;
      case 'item/completed':
        // A message that was not sent in pieces comes only as a whole.
        if (!this.#hasText && isJsonObject(params['item']) && params['item']['type'] === 'agentMessage') {
          this.#sendText('text', params['item']['text']);
        }
        break;
      case 'rawResponseItem/completed':
        // Items of the history belong to no turn.
        if (params['turnId'] === this.turnId && isJsonObject(params['item'])) this.#sendCall(params['item']);
        break;
      case 'rawResponse/completed':
        this.#usage = readUsage(params['usage']) ?? this.#usage;
        if (this.#callCount === 0) break;
        this.#isComplete = true;
        this.#onComplete();
        break;
      case 'thread/tokenUsage/updated':
        if (isJsonObject(params['tokenUsage'])) this.#usage = readUsage(params['tokenUsage']['last']);
        break;
      case 'turn/completed':
        if (isJsonObject(params['turn'])) this.#settleTurn(params['turn']);
        break;
      default:
    }
  }

  /** Sends the client a call of one of its tools. Codex answers calls of its own tools. */
  #sendCall({ type, call_id: id, name: codexName, arguments: json }: JsonObject): void {
    if (type !== 'function_call' || typeof id !== 'string' || typeof codexName !== 'string') return;
    const name = this.#tools.names.get(codexName);
    if (name === undefined || (this.#callCount > 0 && !this.#tools.parallel)) return;
    this.#onPart({ kind: 'call', index: this.#callCount, id, name, arguments: typeof json === 'string' ? json : '{}' });
    this.#callCount += 1;
  }

  #sendText(kind: TextPart['kind'], text: Json | undefined): void {
    if (typeof text !== 'string' || text === '') return;
    if (kind === 'text') this.#hasText = true;
    this.#onPart({ kind, text });
  }

  #settleTurn({ status, error }: JsonObject): void {
    if (this.#isComplete) this.#settle.resolve({ finishReason: 'tool_calls', usage: this.#usage });
    else if (status === 'completed') this.#settle.resolve({ finishReason: 'stop', usage: this.#usage });
    else this.#settle.reject(toTurnError(isJsonObject(error) ? error : {}, this.#resetsAt));
  }
}

function readUsage(usage: Json | undefined): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const count = (field: string): number => (typeof usage[field] === 'number' ? usage[field] : 0);
  return {
    promptTokens: count('inputTokens'),
    cachedTokens: count('cachedInputTokens'),
    cacheWriteTokens: count('cacheWriteInputTokens'),
    completionTokens: count('outputTokens'),
    reasoningTokens: count('reasoningOutputTokens'),
  };
}

/** HTTP statuses by Codex's kind of error. */
const statusOfErrorKind: Readonly<Record<string, number>> = {
  usageLimitExceeded: 429,
  rateLimitExceeded: 429,
  serverOverloaded: 503,
  modelNotFound: 404,
  unauthorized: 401,
  badRequest: 400,
};

/** Returns when the account's used-up limits are reset, in seconds since 1970; undefined if none is used up. */
function readResetTime(limits: Json | undefined): number | undefined {
  const { primary, secondary } = isJsonObject(limits) ? limits : {};
  const resetTimes = [primary, secondary].filter(isJsonObject).flatMap(({ usedPercent, resetsAt }) => {
    return typeof usedPercent === 'number' && usedPercent >= 100 && typeof resetsAt === 'number' ? [resetsAt] : [];
  });
  return resetTimes.length === 0 ? undefined : Math.max(...resetTimes);
}

/** @param resetsAt when the account's used-up limits are reset, in seconds since 1970 */
function toTurnError({ message, codexErrorInfo: info }: JsonObject, resetsAt: number | undefined): RouterError {
  const sentence = typeof message === 'string' ? readErrorText(message) : '';
  if (info === 'contextWindowExceeded') {
    return upstreamError({ status: 400, message: sentence, retryAfter: undefined, overflow: {} });
  }
  const status = toStatus(info) ?? (isBody(message) ? 400 : 502);
  const isUsedUp = info === 'usageLimitExceeded' && resetsAt !== undefined;
  const retryAfter = isUsedUp ? Math.max(1, Math.ceil(resetsAt - Date.now() / 1000)) : undefined;
  return upstreamError({ status, message: sentence, retryAfter });
}

/** Returns the HTTP status for Codex's error info: a word, or an object with one field that may contain the status. */
function toStatus(info: Json | undefined): number | undefined {
  if (typeof info === 'string') return statusOfErrorKind[info];
  const [detail] = isJsonObject(info) ? Object.values(info) : [];
  const status = isJsonObject(detail) ? detail['httpStatusCode'] : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** Returns whether an error message is the whole body of the upstream's answer. Codex repeats the body only for status 400. */
function isBody(message: Json | undefined): boolean {
  return typeof message === 'string' && message.startsWith('{');
}
