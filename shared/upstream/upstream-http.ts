import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { outcomeOfFailure, outcomeOfStatus, type UpstreamCall } from './upstream-call.ts';
import { Exchange, type Listener, type Patience } from './exchange.ts';

/** Where the upstream is and how long to wait for it. */
export interface UpstreamHttpOptions {
  /** Address that all paths are added to, without a slash at its end. */
  url: string;
  /** Connections for jobs at most. Jobs never wait for one, as long as there are no more jobs than this. */
  connections: number;
  connectTimeoutMs: number;
  /** The headers of every request, for as long as they are good; asked for each time. */
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  /** Whether HTTP/2 is spoken with an upstream that offers it, which only happens over TLS. */
  allowH2: boolean;
  /** Hears of every job's request when it is over. */
  onOver?: ((call: UpstreamCall) => void) | undefined;
}

/** One whole answer of the upstream. `body` is undefined when it was not JSON. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** One request for an answer that is taken as it comes. */
export interface UpstreamRequest {
  path: string;
  /** JSON in UTF-8. */
  body: Buffer;
  /** Besides those of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The upstream answered, but not what was asked for. The message holds path and status, no content. */
export class UpstreamAnswerError extends Error {
  override name = 'UpstreamAnswerError';
}

/** Questions about the upstream itself must be answered soon. */
const questionTimeoutMs = 5000;

/** Bytes of an answer to a question. The longest are lists of tokens that come with their count, and lists of models. */
const answerBytes = 16 * 1024 * 1024;

/**
 * The connections to one upstream, kept alive. Questions about the upstream have connections of their own, so that its
 * health can be seen while all slots are busy.
 */
export class UpstreamHttp {
  readonly #jobs: Pool;
  readonly #questions: Pool;
  readonly #base: string;
  /** Where it is. */
  readonly server: { address: string; port: number };
  readonly #headers: UpstreamHttpOptions['headers'];
  readonly #onOver: UpstreamHttpOptions['onOver'];

  constructor({ url, connections, connectTimeoutMs, headers, allowH2, onOver }: UpstreamHttpOptions) {
    const { origin, pathname, hostname, port, protocol } = new URL(url);
    this.server = { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
    this.#base = pathname.replace(/\/+$/, '');
    this.#headers = headers;
    this.#onOver = onOver;
    const common = { allowH2, connect: { timeout: connectTimeoutMs } };
    // Exchange watches the time of jobs: silence has another bound before the first token than after it.
    this.#jobs = new Pool(origin, { ...common, connections, headersTimeout: 0, bodyTimeout: 0 });
    this.#questions = new Pool(origin, { ...common, connections: 8, maxResponseSize: answerBytes });
  }

  /** GETs a path and reads the answer whatever its status. Throws what the connection throws. */
  async get(path: string, timeoutMs = questionTimeoutMs): Promise<UpstreamAnswer> {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = await this.#headers();
    return readWhole(await this.#questions.request({ path: this.#base + path, method: 'GET', headers, signal }));
  }

  /** POSTs JSON that asks about the upstream and reads the answer whatever its status. */
  async post(
    path: string,
    body: string,
    signal = AbortSignal.timeout(questionTimeoutMs),
    further: UpstreamRequest['headers'] = {},
  ): Promise<UpstreamAnswer> {
    const headers = { ...(await this.#headers()), ...further };
    return readWhole(await this.#questions.request({ path: this.#base + path, method: 'POST', headers, body, signal }));
  }

  /**
   * GETs a path that must answer 200 with the shape.
   * @throws UpstreamAnswerError when it does not
   */
  async ask<T extends z.ZodType>(path: string, shape: T): Promise<z.output<T>> {
    return fit(path, await this.get(path), shape);
  }

  /** GETs a path that not every version has: undefined when the answer is not 200 with the shape. */
  async askOptional<T extends z.ZodType>(path: string, shape: T): Promise<z.output<T> | undefined> {
    const { status, body } = await this.get(path);
    return status === 200 ? shape.safeParse(body).data : undefined;
  }

  /**
   * Sends a job's request and hands its answer to the listener as it comes. Resolves at the answer's end. An abort
   * closes the connection (or, with HTTP/2, the stream) at once, which is how upstreams learn that nobody waits any more.
   */
  async send(
    { path, body, headers }: UpstreamRequest,
    listener: Listener,
    patience: Patience,
    signal: AbortSignal,
  ): Promise<void> {
    const common = await this.#headers();
    const exchange = new Exchange(listener, patience, signal);
    const sentAt = performance.now();
    const tell = (outcome: UpstreamCall['outcome']): void => {
      const { firstAt } = exchange;
      const firstMs = firstAt === undefined ? undefined : firstAt - sentAt;
      this.#onOver?.({ outcome, firstMs, ms: performance.now() - sentAt });
    };
    this.#jobs.dispatch(
      { path: this.#base + path, method: 'POST', headers: { ...common, ...headers }, body },
      exchange,
    );
    try {
      await exchange.done;
    } catch (error) {
      tell(outcomeOfFailure(error, signal));
      throw error;
    }
    tell(outcomeOfStatus(exchange.status ?? 200));
  }

  /** Closes all connections; running requests end with an error. */
  async close(): Promise<void> {
    await Promise.all([this.#jobs.destroy(), this.#questions.destroy()]);
  }
}

/**
 * The answer's body, when its status is 200 and its shape is right.
 * @throws UpstreamAnswerError
 */
export function fit<T extends z.ZodType>(path: string, { status, body }: UpstreamAnswer, shape: T): z.output<T> {
  if (status !== 200) throw new UpstreamAnswerError(`the upstream answered ${path} with status ${status}`);
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw new UpstreamAnswerError(`the upstream answered ${path} in a shape that is not known`);
  return parsed.data;
}

async function readWhole({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<UpstreamAnswer> {
  const text = await body.text();
  return { status: statusCode, headers, body: parseUpstreamJson(text) };
}
