import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '#shared/translate/upstreams/parse-upstream-json.ts';
import { SseReader } from '#shared/upstream/sse-reader.ts';

/** Maximum milliseconds for a call. The limit is low, because no call waits for a model. */
const callMs = 10_000;

/** Thrown when the server does not answer. Its process is then unusable. */
export class OpencodeUnreachable extends RouterError {}

export class OpencodeHttp {
  readonly #address: string;
  readonly #headers: Record<string, string>;

  constructor(address: string, password: string) {
    this.#address = address;
    const credentials = Buffer.from(`opencode:${password}`).toString('base64');
    this.#headers = { authorization: `Basic ${credentials}`, 'content-type': 'application/json' };
  }

  /**
   * Makes a call and returns its answer; an empty object if the answer is not a JSON object.
   * @param options.mayBeGone whether to accept status 404, because the subject of the call may have ended
   * @throws RouterError `upstream_failed` if the server refuses the call
   * @throws OpencodeUnreachable if the server does not answer
   */
  async call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: JsonObject,
    { mayBeGone = false }: { mayBeGone?: boolean } = {},
  ): Promise<JsonObject> {
    try {
      const response = await fetch(`${this.#address}${path}`, {
        method,
        headers: this.#headers,
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(callMs),
      });
      const text = await response.text();
      if (!response.ok && !(mayBeGone && response.status === 404)) {
        throw new RouterError('upstream_failed', `The CLI answered with status ${response.status}.`, { cause: text });
      }
      const answer = parseUpstreamJson(text);
      return isJsonObject(answer) ? answer : {};
    } catch (error) {
      if (error instanceof RouterError) throw error;
      throw new OpencodeUnreachable('upstream_failed', 'The CLI cannot be reached.', { cause: error });
    }
  }

  /**
   * Reads the server's events until the server ends or the signal aborts.
   * @param onStart called when the server has begun to send events
   */
  async readEvents(onStart: () => void, onEvent: (event: JsonObject) => void, signal: AbortSignal): Promise<void> {
    const { 'content-type': _, ...headers } = this.#headers;
    const response = await fetch(`${this.#address}/event`, { headers, signal });
    if (!response.ok || !response.body) throw new RouterError('upstream_failed', 'The CLI sends no events.');
    onStart();
    const reader = new SseReader();
    for await (const chunk of response.body) {
      for (const data of reader.push(Buffer.from(chunk))) {
        const event = parseUpstreamJson(data);
        if (isJsonObject(event)) onEvent(event);
      }
    }
  }
}
