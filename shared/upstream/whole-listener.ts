import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { AnswerBody } from './answer-body.ts';
import type { Dialect } from '#shared/translate/upstreams/upstream-formats.ts';
import type { Listener } from './exchange.ts';

/** Far more than any model writes in one answer. */
const maxBytes = 64 * 1024 * 1024;

/** Takes an answer that comes as one JSON object. */
export class WholeListener implements Listener {
  readonly #dialect: Dialect;
  readonly #body = new AnswerBody(maxBytes);
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
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
   * The answer. Call when all of it has come.
   * @throws RouterError for an answer that is an error, or none
   */
  end(): JsonObject {
    const text = this.#body.text();
    if (this.#status !== 200) throw this.#dialect.error(this.#status, text, this.#headers);
    const answer = parseUpstreamJson(text);
    if (!isJsonObject(answer)) throw new RouterError('upstream_failed', "The upstream's answer cannot be read.");
    return answer;
  }
}
