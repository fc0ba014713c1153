import { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { toBareAddress } from './bare-address.ts';
import { CallError } from './call-error.ts';
import { createUnreachableError } from './unreachable.ts';

/** Milliseconds to wait for the beginning of an answer, or for its next piece. */
const defaultTimeoutMs = 30_000;
/** Milliseconds to wait for the answer to an upload. Longer, because the router checks the whole file before it answers. */
const uploadTimeoutMs = 120_000;

/** A request body that is streamed. */
export interface SentBody {
  contentType: string;
  bytes: number;
  content: Readable;
}

/** Content of an answer that is streamed. */
export interface ArrivingContent {
  /** Length of the content; undefined if the router does not report it. */
  bytes: number | undefined;
  content: AsyncIterable<Uint8Array>;
}

export interface RouterAddress {
  /** Address of the router, such as `http://127.0.0.1:8484`. It may include the path of the API, as SDKs need it. */
  url: string;
  key: string;
  /** Path segment of the chat format, such as `openai`. */
  segment: string;
  /** Milliseconds to wait for the beginning of an answer, or for its next piece. Default: 30 s. */
  timeoutMs?: number;
}

/** Client of the router's API over HTTP, with a key. Every method throws a CallError. */
export class RouterClient {
  readonly #url: string;
  readonly #key: string;
  readonly #base: string;
  readonly #timeoutMs: number;

  constructor({ url, key, segment, timeoutMs = defaultTimeoutMs }: RouterAddress) {
    this.#timeoutMs = timeoutMs;
    this.#url = toBareAddress(url).replace(/\/v1$/, '');
    this.#key = key;
    this.#base = `${this.#url}/api/${segment}`;
  }

  /**
   * Sends a request and returns the JSON of the answer.
   * @param path path below the API, such as `/batches`
   */
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

  /** Opens an answer that may be large. Reading the content throws if the content is cut off. */
  async open(path: string): Promise<ArrivingContent> {
    const { headers, body } = await this.#ask(path, { method: 'GET' });
    const statedBytes = Number(headers['content-length']);
    return { bytes: Number.isSafeInteger(statedBytes) ? statedBytes : undefined, content: body };
  }

  async #ask(
    path: string,
    options: { method: Dispatcher.HttpMethod; headers?: Record<string, string>; body?: string | Readable },
  ): Promise<Dispatcher.ResponseData> {
    const headers = { authorization: `Bearer ${this.#key}`, accept: 'application/json', ...options.headers };
    const timeoutMs = options.body instanceof Readable ? Math.max(uploadTimeoutMs, this.#timeoutMs) : this.#timeoutMs;
    const times = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
    const answer = await request(`${this.#base}${path}`, { ...options, ...times, headers }).catch((cause: unknown) => {
      throw this.#unreachable(cause, timeoutMs);
    });
    if (answer.statusCode < 400) return answer;
    const { message, code, param } = await readRefusal(answer);
    throw new CallError(answer.statusCode, message, { code, field: param });
  }

  async #read({ statusCode, body }: Dispatcher.ResponseData): Promise<unknown> {
    try {
      return await body.json();
    } catch (cause) {
      if (cause instanceof SyntaxError)
        throw new CallError(statusCode, `The server at ${this.#url} is not the router: is RTR_URL right?`, { cause });
      throw this.#unreachable(cause);
    }
  }

  #unreachable(cause: unknown, timeoutMs = this.#timeoutMs): CallError {
    return createUnreachableError(this.#url, { settings: 'RTR_URL', timeoutMs }, cause);
  }
}

async function readRefusal({
  statusCode,
  body,
}: Dispatcher.ResponseData): Promise<{ message: string; code?: string; param?: string }> {
  const answer = (await body.json().catch(() => undefined)) as { error?: Record<string, unknown> } | undefined;
  const { message, code, param } = answer?.error ?? {};
  return {
    message: typeof message === 'string' ? message : `The router answered with status ${statusCode}.`,
    ...(typeof code === 'string' && { code }),
    ...(typeof param === 'string' && { param }),
  };
}
