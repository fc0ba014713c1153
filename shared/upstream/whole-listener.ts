import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { parseExact, writeExact } from '#shared/core/exact-numbers.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import type { AnswerListener } from './exchange.ts';

/** Receives an answer that is one JSON object. */
export class WholeListener implements AnswerListener {
  readonly #upstream: HttpUpstreamFormat;
  readonly #body: AnswerBody;
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  /** @param grow counts the bytes of the answer, see `HeldAnswer` */
  constructor(upstream: HttpUpstreamFormat, grow: (bytes: number) => void) {
    this.#upstream = upstream;
    this.#body = new AnswerBody(grow);
  }

  onStart(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onData(chunk: Buffer): 'nothing' {
    this.#body.add(chunk);
    return 'nothing';
  }

  /**
   * Parses the answer after all of it has arrived.
   * @throws RouterError for an answer that is an error or not a JSON object
   */
  end(): JsonObject {
    const text = this.#body.text();
    if (this.#status !== 200) throw this.#upstream.readError(this.#status, text, this.#headers);
    const answer = parseUpstreamJson(text, keepsNumberText(this.#upstream) ? parseExact : JSON.parse);
    if (!isJsonObject(answer)) throw new RouterError('upstream_failed', "The upstream's answer cannot be read.");
    const status = readErrorStatus(answer);
    if (status !== undefined) throw this.#upstream.readError(status, text, this.#headers);
    return answer;
  }
}

/**
 * Returns the status of an error that comes with status 200, as from OpenRouter and some engines; undefined for any other answer. A failed
 * response is not such an error.
 */
function readErrorStatus({ error, object }: JsonObject): number | undefined {
  if (object === 'response' || (!isJsonObject(error) && (typeof error !== 'string' || error === ''))) return undefined;
  const code = Number(isJsonObject(error) ? error['code'] : undefined);
  return code >= 400 && code < 600 ? code : 500;
}

export function writeAnswer(upstream: Pick<HttpUpstreamFormat, 'operation'>, body: JsonObject): string {
  return keepsNumberText(upstream) ? writeExact(body) : JSON.stringify(body);
}

/** Whether numbers keep their exact text. Vectors do not: they have thousands of numbers, and the notation does not matter. */
function keepsNumberText({ operation }: Pick<HttpUpstreamFormat, 'operation'>): boolean {
  return operation === 'generate' || operation === 'complete';
}

/** Collects the body of an answer until it is complete. */
export class AnswerBody {
  readonly #grow: (bytes: number) => void;
  readonly #chunks: Buffer[] = [];

  /** @param grow counts the bytes of the body, and throws if they are too many */
  constructor(grow: (bytes: number) => void) {
    this.#grow = grow;
  }

  add(chunk: Buffer): void {
    this.#grow(chunk.length);
    this.#chunks.push(chunk);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

const maxErrorBytes = 256 * 1024;

/** Creates the collector for the body of an error answer, of at most `maxErrorBytes`. */
export function createErrorBody(): AnswerBody {
  let leftBytes = maxErrorBytes;
  return new AnswerBody((bytes) => {
    leftBytes -= bytes;
    if (leftBytes < 0) throw new RouterError('upstream_failed', "The upstream's answer is too long.");
  });
}
