import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { CliProcess } from './cli-process.ts';
import { createJsonLineReader } from './line-reader.ts';

/** Thrown when the program answers a request with an error (JSON-RPC 2.0, "Error object"). */
export class JsonRpcError extends Error {
  override name = 'JsonRpcError';
  /** The message is the CLI's own sentence, so it is not logged. */
  readonly quotesUpstream = true;
  readonly code: Json | undefined;
  readonly data: Json | undefined;

  constructor({ code, message, data }: JsonObject) {
    super(typeof message === 'string' ? message : 'an error without a message');
    this.code = code;
    this.data = data;
  }
}

/** Returns the answer to a request from the program. Undefined refuses the request, `unanswered` leaves the program waiting. */
type RequestHandler = (method: string, params: JsonObject) => JsonObject | typeof unanswered | undefined;

/** Stands for the answer to a request that gets no answer. */
export const unanswered = Symbol('unanswered');

interface PendingRequest {
  resolve: (result: Json) => void;
  reject: (error: unknown) => void;
}

/** JSON-RPC 2.0, "Error object". */
const methodNotFound = -32_601;

/** Exchanges JSON-RPC 2.0 messages with a program, one per line. */
export class JsonRpcPeer {
  readonly #process: CliProcess;
  readonly #onNotification: (method: string, params: JsonObject) => void;
  readonly #onRequest: RequestHandler;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;

  constructor(
    process: CliProcess,
    onNotification: (method: string, params: JsonObject) => void,
    onRequest: RequestHandler,
  ) {
    this.#process = process;
    this.#onNotification = onNotification;
    this.#onRequest = onRequest;
    process.onOutput = createJsonLineReader((message) => this.#onMessage(message));
    void process.whenEnded.then(async () => this.#rejectAll(await process.waitForFailure()));
  }

  /**
   * Sends a request and returns its result; an empty object if the result is not an object.
   * @throws JsonRpcError if the program answers with an error
   * @throws RouterError if the program ends
   */
  async request(method: string, params: JsonObject): Promise<JsonObject> {
    const process = this.#process;
    if (process.hasEnded) throw await process.waitForFailure();
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    this.#pending.set(id, { resolve, reject });
    this.#send({ id, method, params });
    const result = await promise;
    return isJsonObject(result) ? result : {};
  }

  notify(method: string, params: JsonObject): void {
    this.#send({ method, params });
  }

  #onMessage(message: JsonObject): void {
    const { id, method } = message;
    const params = isJsonObject(message['params']) ? message['params'] : {};
    if (typeof method !== 'string') this.#onResponse(message);
    else if (id === undefined) this.#onNotification(method, params);
    else {
      const result = this.#onRequest(method, params);
      if (result === unanswered) return;
      this.#send(result ? { id, result } : { id, error: { code: methodNotFound, message: 'Method not found' } });
    }
  }

  #onResponse({ id, result, error }: JsonObject): void {
    if (typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (isJsonObject(error)) pending?.reject(new JsonRpcError(error));
    else pending?.resolve(result ?? {});
  }

  #rejectAll(error: RouterError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #send(message: JsonObject): void {
    this.#process.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
