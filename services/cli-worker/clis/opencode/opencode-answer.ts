import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { readRetryAfter, upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { AnswerPart, AnswerTools, TextPart } from '../cli.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import type { AnswerValidator } from './answer-validator.ts';
import { isHistoryMessage } from './opencode-history.ts';

/**
 * Reads an opencode server's events about one session: parts and their pieces, calls of tools, token counts, and the end.
 *
 * Each call waits for a permission. After a refusal, opencode reads the rest of the upstream's answer and sends no further request.
 */
export class OpencodeAnswer {
  /** How the answer ended. Rejects with a RouterError if it failed. */
  readonly finalOutcome: Promise<Outcome>;
  readonly #sessionId: string;
  readonly #onPart: (part: AnswerPart) => void;
  readonly #settle: { resolve: (outcome: Outcome) => void; reject: (error: RouterError) => void };
  readonly #kindOfPart = new Map<Json, TextPart['kind']>();
  readonly #tools: AnswerTools;
  readonly #validate: AnswerValidator | undefined;
  /** Settles when the structured answer has been checked. */
  #structuredCheck: Promise<void> | undefined;
  /** Ids of calls that wait for a permission, which shows that opencode could read their arguments. */
  readonly #waitingCallIds = new Set<Json>();
  /** Calls with their arguments, in order, which the client has not got yet. */
  readonly #unsentCalls = new Map<string, { name: string; input: JsonObject }>();
  /** Ids of all calls with complete arguments. */
  readonly #knownCallIds = new Set<Json>();
  #callCount = 0;
  #outcome: Outcome | undefined;

  /** @param validate checks a JSON value against the client's schema; absent if the client requests text */
  constructor(
    sessionId: string,
    onPart: (part: AnswerPart) => void,
    tools: AnswerTools = { names: new Map(), parallel: true },
    validate?: AnswerValidator,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.finalOutcome = promise;
    // The promise may reject before anything waits for it.
    promise.catch(() => undefined);
    this.#settle = { resolve, reject };
    this.#sessionId = sessionId;
    this.#onPart = onPart;
    this.#tools = tools;
    this.#validate = validate;
  }

  /** Reads an event. Ignores events about other sessions, and about the history that the worker put into the session. */
  push(type: string, properties: JsonObject): void {
    if (properties['sessionID'] !== this.#sessionId) return;
    switch (type) {
      case 'permission.asked':
        if (isJsonObject(properties['tool'])) this.#readPermissionRequest(properties['tool']['callID']);
        break;
      case 'message.part.updated':
        if (isJsonObject(properties['part'])) this.#readPart(properties['part']);
        break;
      case 'message.part.delta':
        this.#readDelta(properties);
        break;
      case 'message.updated':
        if (isJsonObject(properties['info'])) this.#readMessage(properties['info']);
        break;
      case 'session.error':
        this.#settle.reject(toSessionError(properties['error']));
        break;
      case 'session.status':
        if (isJsonObject(properties['status'])) this.#readStatus(properties['status']);
        break;
      case 'session.idle':
        void this.#settleOutcome();
        break;
      default:
    }
  }

  #readPart({ id, type, messageID, callID, tool, state }: JsonObject): void {
    if (id === undefined || isHistoryMessage(messageID)) return;
    // A client that requests JSON gets no text in addition.
    if (type === 'text' && !this.#validate) this.#kindOfPart.set(id, 'text');
    else if (type === 'reasoning') this.#kindOfPart.set(id, 'thinking');
    else if (type === 'tool' && isJsonObject(state)) this.#readToolPart(callID, tool, state);
  }

  #readToolPart(id: Json | undefined, tool: Json | undefined, { status, input }: JsonObject): void {
    const name = typeof tool === 'string' ? this.#tools.names.get(tool) : undefined;
    if (status !== 'running' || typeof id !== 'string' || name === undefined || !isJsonObject(input)) return;
    if (this.#knownCallIds.has(id)) return;
    this.#knownCallIds.add(id);
    this.#unsentCalls.set(id, { name, input });
    this.#sendCompleteCalls();
  }

  #readPermissionRequest(id: Json | undefined): void {
    if (id === undefined) return;
    this.#waitingCallIds.add(id);
    this.#sendCompleteCalls();
  }

  /** Sends the client the calls that are complete, in the order in which the model wrote them. */
  #sendCompleteCalls(): void {
    for (const [id, { name, input }] of this.#unsentCalls) {
      if (!this.#waitingCallIds.has(id)) return;
      this.#unsentCalls.delete(id);
      if (this.#callCount > 0 && !this.#tools.parallel) continue;
      this.#onPart({ kind: 'call', index: this.#callCount, id, name, arguments: JSON.stringify(input) });
      this.#callCount += 1;
    }
  }

  #readDelta({ partID: id, field, delta }: JsonObject): void {
    const kind = id === undefined ? undefined : this.#kindOfPart.get(id);
    if (kind !== undefined && field === 'text' && typeof delta === 'string' && delta !== '') {
      this.#onPart({ kind, text: delta });
    }
  }

  #readMessage({ id, role, finish, tokens, error, structured }: JsonObject): void {
    if (role !== 'assistant' || isHistoryMessage(id) || this.#outcome) return;
    if (isJsonObject(error)) this.#settle.reject(toSessionError(error));
    if (typeof finish !== 'string') return;
    if (structured !== undefined) {
      this.#structuredCheck ??= this.#checkStructuredAnswer(structured, readTokens(tokens)).catch(this.#settle.reject);
      return;
    }
    // If the client has not got a call by now, opencode could not read the call's arguments.
    const hasCalls = finish === 'tool-calls' && this.#callCount > 0 && this.#unsentCalls.size === 0;
    const finishReason = hasCalls ? 'tool_calls' : toFinishReason(finish);
    if (this.#validate && finishReason === 'stop') this.#settle.reject(createSchemaError());
    if (finishReason !== undefined) this.#outcome = { finishReason, usage: readTokens(tokens) };
    // The answer fails, because opencode would send another request and append the second answer.
    else this.#settle.reject(createBrokenOffError());
  }

  async #checkStructuredAnswer(answer: Json, usage: Usage | undefined): Promise<void> {
    if ((await this.#validate?.(answer)) !== true) throw createSchemaError();
    this.#onPart({ kind: 'text', text: JSON.stringify(answer) });
    this.#outcome = { finishReason: 'stop', usage };
  }

  async #settleOutcome(): Promise<void> {
    await this.#structuredCheck;
    if (this.#outcome) this.#settle.resolve(this.#outcome);
    else this.#settle.reject(createBrokenOffError());
  }

  /** Treats opencode's first retry as a failure, so that the router can move the request. opencode retries for a long time. */
  #readStatus({ type, message, next }: JsonObject): void {
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

/** Maps a finish reason of the AI SDK to the chat format. Returns undefined for a reason that does not end an answer. */
function toFinishReason(finish: string): string | undefined {
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

function createSchemaError(): RouterError {
  return new RouterError('upstream_failed', "The model's answer does not have the JSON schema.", { byUpstream: true });
}

function createBrokenOffError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream ended the answer before it was complete.', {
    byUpstream: true,
  });
}

/** Reads token counts. opencode counts cached tokens apart from input, and reasoning apart from output. */
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

function toSessionError(error: Json | undefined): RouterError {
  const { name, data } = isJsonObject(error) ? error : {};
  const { message, statusCode, responseHeaders: headers } = isJsonObject(data) ? data : {};
  const sentence = typeof message === 'string' ? message : '';
  if (name === 'ContextOverflowError') {
    return upstreamError({ status: 400, message: sentence, retryAfter: undefined, overflow: {} });
  }
  if (typeof statusCode === 'number') {
    const retryAfter = isJsonObject(headers) ? readRetryAfter(headers as Record<string, string>) : undefined;
    return upstreamError({ status: statusCode, message: sentence, retryAfter });
  }
  return new RouterError('upstream_failed', 'The CLI failed.', { cause: sentence === '' ? name : sentence });
}
