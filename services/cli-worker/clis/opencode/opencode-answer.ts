import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { AnswerPart, TextPart } from '../cli.ts';
import type { Outcome } from '../../answer/outcome.ts';

/** Reads an opencode server's events of one session: parts and their pieces, token counts, the end. */
export class OpencodeAnswer {
  /** How the answer ended. Rejects with a RouterError when it failed. */
  readonly ended: Promise<Outcome>;
  readonly #sessionId: string;
  readonly #onPart: (part: AnswerPart) => void;
  readonly #settle: { resolve: (outcome: Outcome) => void; reject: (error: RouterError) => void };
  /** Kinds of parts by id. */
  readonly #kinds = new Map<Json, TextPart['kind']>();
  #outcome: Outcome | undefined;

  constructor(sessionId: string, onPart: (part: AnswerPart) => void) {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.ended = promise;
    // It may reject before anything waits for it.
    promise.catch(() => undefined);
    this.#settle = { resolve, reject };
    this.#sessionId = sessionId;
    this.#onPart = onPart;
  }

  /** Takes an event. Those of other sessions are ignored. */
  push(type: string, properties: JsonObject): void {
    if (properties['sessionID'] !== this.#sessionId) return;
    switch (type) {
      case 'message.part.updated':
        if (isJsonObject(properties['part'])) this.#part(properties['part']);
        break;
      case 'message.part.delta':
        this.#piece(properties);
        break;
      case 'message.updated':
        if (isJsonObject(properties['info'])) this.#message(properties['info']);
        break;
      case 'session.error':
        this.#settle.reject(sessionError(properties['error']));
        break;
      case 'session.status':
        if (isJsonObject(properties['status'])) this.#status(properties['status']);
        break;
      case 'session.idle':
        this.#idle();
        break;
      default:
    }
  }

  #part({ id, type }: JsonObject): void {
    if (id === undefined) return;
    if (type === 'text') this.#kinds.set(id, 'text');
    else if (type === 'reasoning') this.#kinds.set(id, 'thinking');
  }

  #piece({ partID: id, field, delta }: JsonObject): void {
    const kind = id === undefined ? undefined : this.#kinds.get(id);
    if (kind !== undefined && field === 'text' && typeof delta === 'string' && delta !== '') {
      this.#onPart({ kind, text: delta });
    }
  }

  #message({ role, finish, tokens, error }: JsonObject): void {
    if (role !== 'assistant') return;
    if (isJsonObject(error)) this.#settle.reject(sessionError(error));
    if (typeof finish !== 'string') return;
    const finishReason = finishReasonFor(finish);
    if (finishReason !== undefined) this.#outcome = { finishReason, usage: readTokens(tokens) };
    // Otherwise opencode asks the upstream again and appends the second answer.
    else this.#settle.reject(brokenOff());
  }

  #idle(): void {
    if (this.#outcome) this.#settle.resolve(this.#outcome);
    else this.#settle.reject(brokenOff());
  }

  /** opencode retries for a long time. Its first retry is taken as the failure, which the router can move. */
  #status({ type, message, next }: JsonObject): void {
    if (type !== 'retry') return;
    const sentence = typeof message === 'string' ? message : '';
    const status = /rate.?limit|too many requests|quota|usage limit|\b429\b/i.test(sentence)
      ? 429
      : /overloaded|\b503\b/i.test(sentence)
        ? 503
        : 502;
    const retryAfter = typeof next === 'number' ? Math.max(1, Math.ceil((next - Date.now()) / 1000)) : undefined;
    this.#settle.reject(upstreamError({ status, message: sentence, retryAfter }));
  }
}

/** Maps the AI SDK's finish reasons; undefined for those that are not an end. */
function finishReasonFor(finish: string): string | undefined {
  switch (finish) {
    case 'stop':
    case 'length':
      return finish;
    case 'content-filter':
      return 'content_filter';
    default:
      return undefined;
  }
}

function brokenOff(): RouterError {
  return new RouterError('upstream_failed', 'The upstream ended the answer before it was complete.');
}

/** opencode counts cached tokens apart from input and reasoning apart from output. */
function readTokens(tokens: Json | undefined): Usage | undefined {
  if (!isJsonObject(tokens)) return undefined;
  const cache = isJsonObject(tokens['cache']) ? tokens['cache'] : {};
  const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
  const cachedTokens = count(cache['read']);
  const cacheWriteTokens = count(cache['write']);
  const reasoningTokens = count(tokens['reasoning']);
  return {
    promptTokens: count(tokens['input']) + cachedTokens + cacheWriteTokens,
    cachedTokens,
    cacheWriteTokens,
    completionTokens: count(tokens['output']) + reasoningTokens,
    reasoningTokens,
  };
}

function sessionError(error: Json | undefined): RouterError {
  const { name, data } = isJsonObject(error) ? error : {};
  const { message, statusCode } = isJsonObject(data) ? data : {};
  const sentence = typeof message === 'string' ? message : '';
  if (name === 'ContextOverflowError') {
    return upstreamError({ status: 400, message: sentence, retryAfter: undefined, overflow: {} });
  }
  if (typeof statusCode === 'number') {
    return upstreamError({ status: statusCode, message: sentence, retryAfter: undefined });
  }
  return new RouterError('upstream_failed', 'The CLI failed.', { cause: sentence === '' ? name : sentence });
}
