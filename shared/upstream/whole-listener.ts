import type { IncomingHttpHeaders } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { AnswerBody } from './answer-body.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Listener } from './exchange.ts';

/** Far more than any model writes in one answer. */
const maxBytes = 64 * 1024 * 1024;

/** Takes an answer that comes as one JSON object. */
export class WholeListener implements Listener {
  readonly #upstream: HttpUpstreamFormat;
  readonly #body = new AnswerBody(maxBytes);
  #status = 0;
  #headers: IncomingHttpHeaders = {};

  constructor(upstream: HttpUpstreamFormat) {
    this.#upstream = upstream;
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
    if (this.#status !== 200) throw this.#upstream.readError(this.#status, text, this.#headers);
    const answer = parseUpstreamJson(text);
    if (!isJsonObject(answer)) throw new RouterError('upstream_failed', "The upstream's answer cannot be read.");
    return answer;
  }
}
