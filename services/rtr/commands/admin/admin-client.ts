import { setTimeout as sleep } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { CallError } from '../client/call-error.ts';
import { toPathSegment } from '../path-segment.ts';
import { toBareAddress } from '../client/bare-address.ts';
import { createUnreachableError } from '../client/unreachable.ts';
import { toCallError } from './refusal-error.ts';

/** Milliseconds to wait for the beginning of an answer, or for its next piece. */
const defaultTimeoutMs = 30_000;

/** Maximum number of list items that one request gets. */
const pageSize = 500;

/** The same, of a list in a field of each page. */
const fieldPageSize = 200;

/** Maximum number of times that a request is sent. */
const maxTries = 4;
/** Seconds. A request is repeated only if the router's `retry-after` is at most this long. */
const maxWaitSeconds = 5;

/** Fields of a query; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export interface AdminClientOptions {
  /** Address of the router, such as `http://127.0.0.1:8484`. It may include the path of one of the router's APIs. */
  url: string;
  token: () => Promise<string>;
  /** Error message for a token that the router rejects. */
  unknownTokenMessage: string;
  /** Milliseconds to wait for the beginning of an answer, or for its next piece. Default: 30 s. */
  timeoutMs?: number;
  /** Dispatcher for the requests. Default: the global dispatcher. */
  dispatcher?: Dispatcher;
}

/** An answer, and the revision of the object that the answer contains. A request that changes the object sends the revision back. */
export interface WithRevision<Answer> {
  value: Answer;
  /** The revision, such as `"7"`; undefined if the operation returns none. */
  etag: string | undefined;
}

interface RequestOptions {
  query?: Query;
  body?: object;
  ifMatch?: string | undefined;
}

/** Client of a router's Admin API. Every method throws a CallError with a message for the user. */
export class AdminClient {
  readonly url: string;
  readonly #token: AdminClientOptions['token'];
  readonly #unknownTokenMessage: string;
  readonly #timeoutMs: number;
  readonly #dispatcher: Dispatcher | undefined;

  constructor({ url, token, unknownTokenMessage, timeoutMs = defaultTimeoutMs, dispatcher }: AdminClientOptions) {
    this.#timeoutMs = timeoutMs;
    this.#dispatcher = dispatcher;
    this.url = toBareAddress(url);
    this.#token = token;
    this.#unknownTokenMessage = unknownTokenMessage;
  }

  async get<Answer>(path: string, query: Query = {}): Promise<Answer> {
    return (await this.send<Answer>('GET', path, { query })).value;
  }

  /** Sends a request and returns the answer. The value is undefined if the answer is empty. */
  async send<Answer>(
    method: Dispatcher.HttpMethod,
    path: string,
    options: RequestOptions = {},
  ): Promise<WithRevision<Answer>> {
    const { headers, body } = await this.#sendWithRetries(method, path, options);
    const text = await body.text().catch((cause: unknown) => {
      throw this.#unreachable(cause);
    });
    const etag = headers['etag'];
    return { value: this.#parse(text) as Answer, etag: typeof etag === 'string' ? etag : undefined };
  }

  /**
   * Yields the items of a list, page after page.
   * @param limit maximum number of items
   */
  async *list<Item>(path: string, query: Query = {}, limit = Infinity): AsyncGenerator<Item> {
    let cursor: string | undefined;
    let remaining = limit;
    do {
      const limit = Math.min(remaining, pageSize);
      const page = await this.get<{ data: Item[]; next?: string }>(path, { ...query, limit, cursor });
      yield* page.data;
      remaining -= page.data.length;
      cursor = page.next;
    } while (cursor !== undefined && remaining > 0);
  }

  /**
   * Yields the items of a list that comes in a field of each page. The next page begins before `next`, or after the last item while there
   * are `more`.
   * @param limit maximum number of items
   */
  async *listField(path: string, field: string, query: Query, limit: number): AsyncGenerator<{ id: string }> {
    let place: Query | undefined = {};
    for (let remaining = limit; place !== undefined && remaining > 0;) {
      const pageQuery: Query = { ...query, limit: Math.min(remaining, fieldPageSize), ...place };
      const page = await this.get<Record<string, { id: string }[]> & { more?: unknown; next?: unknown }>(
        path,
        pageQuery,
      );
      const items = page[field] ?? [];
      yield* items;
      remaining -= items.length;
      if (typeof page.next === 'string') place = { before: page.next };
      else place = page.more === true && items.length > 0 ? { after: items.at(-1)?.id } : undefined;
    }
  }

  async listAll<Item>(path: string, query: Query = {}): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this.list<Item>(path, query)) items.push(item);
    return items;
  }

  /** Opens a file as a stream. Reading the stream throws if it is cut off. */
  async open(path: string, query: Query = {}): Promise<AsyncIterable<Uint8Array>> {
    return (await this.#sendWithRetries('GET', path, { query })).body;
  }

  /**
   * Sends a request. Repeats it if the router answers with `retry-after`. Never repeats a POST request: it could create a second object.
   */
  async #sendWithRetries(
    method: Dispatcher.HttpMethod,
    path: string,
    options: RequestOptions,
  ): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#sendOnce(method, path, options);
      const { statusCode, headers, body } = answer;
      if (statusCode < 300) return answer;
      const text = await body.text().catch(() => '');
      const waitSeconds = Number(headers['retry-after']);
      if (method === 'POST' || attempt === maxTries || !(waitSeconds <= maxWaitSeconds)) {
        const refusal = {
          status: statusCode,
          text,
          headers,
          url: this.url,
          path,
          unknownTokenMessage: this.#unknownTokenMessage,
        };
        throw toCallError(refusal);
      }
      await sleep(waitSeconds * 1_000);
    }
  }

  async #sendOnce(
    method: Dispatcher.HttpMethod,
    path: string,
    { query = {}, body, ifMatch }: RequestOptions,
  ): Promise<Dispatcher.ResponseData> {
    const url = new URL(`${this.url}/api/admin/v1${path}`);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = {
      authorization: `Bearer ${await this.#token()}`,
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    return request(url, {
      method,
      headers,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      ...(this.#dispatcher && { dispatcher: this.#dispatcher }),
      ...(body && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw this.#unreachable(cause);
    });
  }

  #parse(text: string): unknown {
    if (text === '') return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new CallError(0, `The server at ${this.url} is not the router: is RTR_URL right?`, { cause });
    }
  }

  #unreachable(cause: unknown): CallError {
    return createUnreachableError(this.url, { settings: 'RTR_URL (or --router)', timeoutMs: this.#timeoutMs }, cause);
  }
}

/**
 * Builds a path with parameters, such as buildPath`/users/${id}`. Each parameter is one segment and may contain any characters.
 * @throws RouterError `invalid_request` for a parameter that cannot be a segment, see `toPathSegment`
 */
export function buildPath(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return texts.reduce((path, text, index) => `${path}${toPathSegment(values[index - 1] ?? '')}${text}`);
}
