import type { IncomingHttpHeaders } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { Exchange, type Listener, type Patience } from './exchange.ts';

/** Where the engine is and how long to wait for it. */
export interface EngineHttpOptions {
  /** Address without a path that ends in `/v1`. */
  url: string;
  apiKey?: string | undefined;
  /** Connections for jobs at most. Jobs never wait for one, as long as there are no more jobs than this. */
  connections: number;
  connectTimeoutMs: number;
}

/** One whole answer of the engine. `body` is undefined when it was not JSON. */
export interface EngineAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** The engine answered, but not what was asked for. The message holds path and status, no content. */
export class EngineAnswerError extends Error {
  override name = 'EngineAnswerError';
}

/** Questions about the engine itself must be answered soon. */
const questionTimeoutMs = 5000;

/** Bytes of an answer to a question. The longest is the list of tokens that comes with their count. */
const answerBytes = 16 * 1024 * 1024;

/**
 * The connections to one engine, kept alive. Questions about the engine have connections of their own, so that its
 * health can be seen while all slots are busy.
 */
export class EngineHttp {
  readonly #jobs: Pool;
  readonly #questions: Pool;
  readonly #base: string;
  readonly #headers: Record<string, string>;

  constructor({ url, apiKey, connections, connectTimeoutMs }: EngineHttpOptions) {
    const { origin, pathname } = new URL(url);
    this.#base = pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#headers = { 'content-type': 'application/json', ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
    const common = { allowH2: false, connect: { timeout: connectTimeoutMs } };
    // Exchange watches the time of jobs: silence has another bound before the first token than after it.
    this.#jobs = new Pool(origin, { ...common, connections, headersTimeout: 0, bodyTimeout: 0 });
    this.#questions = new Pool(origin, { ...common, connections: 8, maxResponseSize: answerBytes });
  }

  /** GETs a path and reads the answer whatever its status. Throws what the connection throws. */
  async get(path: string, timeoutMs = questionTimeoutMs): Promise<EngineAnswer> {
    return readWhole(
      await this.#questions.request({
        path: this.#base + path,
        method: 'GET',
        headers: this.#headers,
        signal: AbortSignal.timeout(timeoutMs),
      }),
    );
  }

  /** POSTs JSON that asks about the engine and reads the answer whatever its status. */
  async post(path: string, body: string, signal = AbortSignal.timeout(questionTimeoutMs)): Promise<EngineAnswer> {
    return readWhole(
      await this.#questions.request({ path: this.#base + path, method: 'POST', headers: this.#headers, body, signal }),
    );
  }

  /**
   * GETs a path that must answer 200 with the shape.
   * @throws EngineAnswerError when it does not
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
   * Sends a job's request to `/v1/chat/completions` and hands its answer to the listener as it comes. Resolves at the
   * answer's end. An abort closes the connection at once, which is how engines learn that nobody waits any more.
   */
  generate(body: Buffer, listener: Listener, patience: Patience, signal: AbortSignal): Promise<void> {
    const exchange = new Exchange(listener, patience, signal);
    this.#jobs.dispatch(
      { path: `${this.#base}/v1/chat/completions`, method: 'POST', headers: this.#headers, body },
      exchange,
    );
    return exchange.done;
  }

  /** Closes all connections; running requests end with an error. */
  async close(): Promise<void> {
    await Promise.all([this.#jobs.destroy(), this.#questions.destroy()]);
  }
}

/**
 * The answer's body, when its status is 200 and its shape is right.
 * @throws EngineAnswerError
 */
export function fit<T extends z.ZodType>(path: string, { status, body }: EngineAnswer, shape: T): z.output<T> {
  if (status !== 200) throw new EngineAnswerError(`the engine answered ${path} with status ${status}`);
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw new EngineAnswerError(`the engine answered ${path} in a shape that is not known`);
  return parsed.data;
}

async function readWhole({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<EngineAnswer> {
  const text = await body.text();
  return { status: statusCode, headers, body: parseJson(text) };
}

/** The value of a JSON text, undefined when it is not one. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
