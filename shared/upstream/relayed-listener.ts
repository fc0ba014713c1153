import type { IncomingHttpHeaders } from 'node:http';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import type { AnswerListener, Progress } from './exchange.ts';
import type { Relay } from './relay.ts';

/**
 * Passes an answer to its listener. Reports the head first and passes headers on to the client. Lets a stream wait for its input tokens and
 * for room in the reply.
 */
export class RelayedListener implements AnswerListener {
  readonly #listener: AnswerListener;
  readonly #relay: Relay;

  constructor(listener: AnswerListener, relay: Relay) {
    this.#listener = listener;
    this.#relay = relay;
  }

  onStart(status: number, headers: IncomingHttpHeaders): void {
    const { upstream, request, reply } = this.#relay;
    if (status === 200) request.fit?.release();
    request.onStatus?.(status);
    upstream.onHead?.(status, headers);
    const { passesHeaders, translation } = request.route;
    const { answerHeaders } = translation.client;
    if (passesHeaders && answerHeaders) reply.addHeaders(pickHeaders(headers, answerHeaders));
    this.#listener.onStart(status, headers);
  }

  onData(chunk: Buffer): Progress {
    return this.#listener.onData(chunk);
  }

  waitUntilReady(): Promise<void> | undefined {
    return this.#relay.request.input.wait();
  }

  waitForRoom(): Promise<void> | undefined {
    const { request, reply } = this.#relay;
    return request.job.stream ? reply.waitForRoom?.() : undefined;
  }
}
