import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Pool, type Dispatcher } from 'undici';
import type { z } from 'zod';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { classifyFailure, classifyStatus, type UpstreamCall } from './upstream-call.ts';
import { Exchange, type ExchangeTimeouts, type AnswerListener } from './exchange.ts';
import { UpstreamAnswerError } from './upstream-failure.ts';

export interface UpstreamHttpOptions {
  /** Base URL, to which paths are appended. */
  url: string;
  /** Maximum number of connections for jobs. No job waits for a connection if at most this many run at once. */
  connections: number;
  connectTimeoutMs: number;
  /** Called for every request. Returns the headers that all requests carry. */
  headers: () => Record<string, string> | Promise<Record<string, string>>;
  /** Whether to use HTTP/2 with an upstream that offers it. Upstreams offer it only over TLS. */
  allowH2: boolean;
  /** Called when a job's request has ended. */
  onOver?: ((call: UpstreamCall) => void) | undefined;
}

/** A complete answer of the upstream. `body` is undefined if it is not JSON. */
export interface UpstreamAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export interface UpstreamRequest {
  path: string;
  /** JSON in UTF-8, in pieces. */
  body: readonly Buffer[];
  /** Headers in addition to those of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
}

const queryTimeoutMs = 5000;

/** Minimum bytes of a body whose pieces are sent one by one. The pieces of a shorter body are joined, which takes less time. */
const minStreamedBytes = 256 * 1024;

/** Maximum bytes of an answer to a query. The longest answers are lists of models, and lists of tokens next to their count. */
const maxAnswerBytes = 16 * 1024 * 1024;

/**
 * The connections to one upstream, kept alive. Queries about the upstream itself (health, models, token counts) have separate connections,
 * so that they work while all slots are busy.
 */
export class UpstreamHttp {
  readonly #jobs: Pool;
  readonly #queries: Pool;
  readonly #base: string;
  readonly server: { address: string; port: number };
  readonly #headers: UpstreamHttpOptions['headers'];
  readonly #onOver: UpstreamHttpOptions['onOver'];

  constructor({ url, connections, connectTimeoutMs, headers, allowH2, onOver }: UpstreamHttpOptions) {
    const { origin, pathname, hostname, port, protocol } = new URL(url);
    this.server = { address: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
    this.#base = pathname.replace(/\/+$/, '');
    this.#headers = headers;
    this.#onOver = onOver;
    const commonOptions = { allowH2, connect: { timeout: connectTimeoutMs } };
    // `Exchange` has the timeouts of jobs, because they differ before and after the first token.
    this.#jobs = new Pool(origin, { ...commonOptions, connections, headersTimeout: 0, bodyTimeout: 0 });
    this.#queries = new Pool(origin, { ...commonOptions, connections: 8, maxResponseSize: maxAnswerBytes });
  }

  /**
   * GETs a path and reads the answer, whatever its status.
   * @throws the connection's errors
   */
  async get(path: string, timeoutMs = queryTimeoutMs): Promise<UpstreamAnswer> {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = await this.#headers();
    return readWhole(await this.#queries.request({ path: this.#base + path, method: 'GET', headers, signal }));
  }

  /**
   * POSTs a query as JSON and reads the answer, whatever its status.
   * @throws the connection's errors
   */
  async post(
    path: string,
    body: string,
    signal = AbortSignal.timeout(queryTimeoutMs),
    moreHeaders: UpstreamRequest['headers'] = {},
  ): Promise<UpstreamAnswer> {
    const headers = { ...(await this.#headers()), ...moreHeaders };
    return readWhole(await this.#queries.request({ path: this.#base + path, method: 'POST', headers, body, signal }));
  }

  /**
   * GETs a path that must answer 200 with a body of this shape.
   * @throws UpstreamAnswerError for any other answer
   */
  async getJson<T extends z.ZodType>(path: string, shape: T): Promise<z.output<T>> {
    return parseAnswer(path, await this.get(path), shape);
  }

  /** GETs a path that some versions lack. Returns undefined unless the answer is 200 with a body of this shape. */
  async getOptionalJson<T extends z.ZodType>(path: string, shape: T): Promise<z.output<T> | undefined> {
    const { status, body } = await this.get(path);
    return status === 200 ? shape.safeParse(body).data : undefined;
  }

  /**
   * Sends a job's request and passes the answer to the listener as it arrives. Resolves at the end of the answer. An abort closes the
   * connection (with HTTP/2: the stream) at once, so that the upstream stops generating.
   */
  async send(
    { path, body, headers }: UpstreamRequest,
    listener: AnswerListener,
    timeouts: ExchangeTimeouts,
    signal: AbortSignal,
  ): Promise<void> {
    const commonHeaders = await this.#headers();
    const exchange = new Exchange(listener, timeouts, signal);
    const sentAt = performance.now();
    const report = (outcome: UpstreamCall['outcome']): void => {
      const { firstPieceAt } = exchange;
      const firstMs = firstPieceAt === undefined ? undefined : firstPieceAt - sentAt;
      this.#onOver?.({ outcome, firstMs, ms: performance.now() - sentAt });
    };
    const bytes = countBytes(body);
    const isStreamed = body.length > 1 && bytes >= minStreamedBytes;
    this.#jobs.dispatch(
      {
        path: this.#base + path,
        method: 'POST',
        headers: { ...commonHeaders, ...headers, ...(isStreamed && { 'content-length': String(bytes) }) },
        body: isStreamed ? Readable.from(body) : joinPieces(body),
      },
      exchange,
    );
    try {
      await exchange.done;
    } catch (error) {
      report(classifyFailure(error, signal));
      throw error;
    }
    report(classifyStatus(exchange.status ?? 200));
  }

  /** Closes all connections. Running requests end with an error. */
  async close(): Promise<void> {
    await Promise.all([this.#jobs.destroy(), this.#queries.destroy()]);
  }
}

/**
 * Returns the answer's body if its status is 200 and it has this shape.
 * @throws UpstreamAnswerError otherwise
 */
export function parseAnswer<T extends z.ZodType>(
  path: string,
  { status, body }: UpstreamAnswer,
  shape: T,
): z.output<T> {
  if (status !== 200) throw new UpstreamAnswerError(`the upstream answered ${path} with status ${status}`);
  const parsed = shape.safeParse(body);
  if (!parsed.success) throw new UpstreamAnswerError(`the upstream answered ${path} in an unknown shape`);
  return parsed.data;
}

export function countBytes(body: UpstreamRequest['body']): number {
  return body.reduce((sum, piece) => sum + piece.length, 0);
}

function joinPieces(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return pieces.length === 1 && first ? first : Buffer.concat(pieces);
}

async function readWhole({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<UpstreamAnswer> {
  const text = await body.text();
  return { status: statusCode, headers, body: parseUpstreamJson(text) };
}
