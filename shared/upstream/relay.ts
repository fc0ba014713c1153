import type { IncomingHttpHeaders } from 'node:http';
import type { WrittenRequest } from './request-writer.ts';
import type { UpstreamHttp } from './upstream-http.ts';

/** Timeouts of an answer, in milliseconds. */
export interface AnswerTimeouts {
  firstTokenMs: number;
  idleMs: number;
  /** Maximum time for an answer that is not streamed. */
  answerMs: number;
}

/** A worker's upstream, as the relay uses it. */
export interface RelayedUpstream {
  http: Pick<UpstreamHttp, 'send' | 'server'>;
  /** See `Generation.provider`. */
  traceName: string;
  timeouts: AnswerTimeouts;
  /** Called with the status and headers of every answer. */
  onHead?: ((status: number, headers: IncomingHttpHeaders) => void) | undefined;
}

/** A request, its upstream, and the reply that gets the answer. */
export interface Relay {
  upstream: RelayedUpstream;
  request: WrittenRequest;
  /** See `Reply` of the broker contract. */
  reply: {
    addHeaders(headers: Readonly<Record<string, string>>): void;
    write(piece: string | Uint8Array): void;
    waitForRoom?(): Promise<void> | undefined;
  };
  signal: AbortSignal;
}
