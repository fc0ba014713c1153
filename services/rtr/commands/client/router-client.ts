import type { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';

/** A request that the router refused, or did not answer. The message is written for the user. */
export class CallError extends Error {
  override name = 'CallError';
  /** The HTTP status, also of an answer that is not the router's; 0 when there was no answer. */
  readonly status: number;

  constructor(status: number, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.status = status;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return (
      this.status === 0 || this.status === 408 || this.status === 429 || (this.status >= 500 && this.status !== 507)
    );
  }
}

/** A body that is sent as it is read. */
export interface SentBody {
  contentType: string;
  bytes: number;
  content: Readable;
}

/** A body that is read as it arrives. */
export interface ArrivingContent {
  /** Undefined where the router does not say. */
  bytes: number | undefined;
  content: AsyncIterable<Uint8Array>;
}

export interface RouterAddress {
  /** The router, such as `http://127.0.0.1:8484`, also with the path of the API, as SDKs need it. */
  url: string;
  key: string;
  /** Path segment of the API. */
  segment: string;
}

/** Speaks to the router as its clients do: over HTTP, with a key. Every method throws a CallError. */
export class RouterClient {
  readonly #url: string;
  readonly #key: string;
  readonly #base: string;

  constructor({ url, key, segment }: RouterAddress) {
    const path = `/api/${segment}`;
    const bare = url.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#url = bare.endsWith(path) ? bare.slice(0, -path.length) : bare;
    this.#key = key;
    this.#base = `${this.#url}${path}`;
  }

  /** The JSON of an answer. @param path below the API, such as `/batches` */
  async call<Answer>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Answer> {
    const answer = await this.#ask(path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return (await this.#read(answer)) as Answer;
  }

  /** Sends a body that may be large, and returns the JSON of the answer. */
  async send<Answer>(path: string, { contentType, bytes, content }: SentBody): Promise<Answer> {
    const headers = { 'content-type': contentType, 'content-length': String(bytes) };
    return (await this.#read(await this.#ask(path, { method: 'POST', headers, body: content }))) as Answer;
  }

  /** Opens an answer that may be large. Reading it throws when it is cut off. */
  async open(path: string): Promise<ArrivingContent> {
    const { headers, body } = await this.#ask(path, { method: 'GET' });
    const given = Number(headers['content-length']);
    return { bytes: Number.isSafeInteger(given) ? given : undefined, content: body };
  }

  async #ask(
    path: string,
    options: { method: Dispatcher.HttpMethod; headers?: Record<string, string>; body?: string | Readable },
  ): Promise<Dispatcher.ResponseData> {
    const headers = { authorization: `Bearer ${this.#key}`, accept: 'application/json', ...options.headers };
    const answer = await request(`${this.#base}${path}`, { ...options, headers }).catch((cause: unknown) => {
      throw this.#unreachable(cause);
    });
    if (answer.statusCode < 400) return answer;
    throw new CallError(answer.statusCode, await refusal(answer));
  }

  async #read({ statusCode, body }: Dispatcher.ResponseData): Promise<unknown> {
    try {
      return await body.json();
    } catch (cause) {
      if (cause instanceof SyntaxError)
        throw new CallError(statusCode, `What answers at ${this.#url} is not the router: is RTR_URL right?`, { cause });
      throw this.#unreachable(cause);
    }
  }

  #unreachable(cause: unknown): CallError {
    const reason = cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : '';
    return new CallError(
      0,
      `The router does not answer at ${this.#url}: is it running, and RTR_URL right? (${reason})`,
      {
        cause,
      },
    );
  }
}

/** The sentence of an answer that refuses a request. */
async function refusal({ statusCode, body }: Dispatcher.ResponseData): Promise<string> {
  const answer = (await body.json().catch(() => undefined)) as { error?: { message?: unknown } } | undefined;
  const message = answer?.error?.message;
  return typeof message === 'string' ? message : `The router answered with status ${statusCode}.`;
}
