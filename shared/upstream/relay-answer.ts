import type { IncomingHttpHeaders } from 'node:http';
import { GenerationSpan, type Generation } from './generation-span.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { Ending, Minted, Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Listener } from './exchange.ts';
import { StreamListener } from './stream-listener.ts';
import type { UpstreamHttp, UpstreamRequest } from './upstream-http.ts';
import { WholeListener } from './whole-listener.ts';

/** Timeouts of waits, in milliseconds. */
export interface AnswerTimeouts {
  /** For the first token of a stream. */
  firstTokenMs: number;
  /** Between two tokens of a stream. */
  idleMs: number;
  /** For an answer that is not streamed. */
  answerMs: number;
}

export interface RelayOptions {
  http: Pick<UpstreamHttp, 'send'>;
  upstream: HttpUpstreamFormat;
  translation: Pick<Translation, 'reply' | 'stream'>;
  minted: Minted;
  /** Whether the upstream was asked for a stream. */
  stream: boolean;
  timeouts: AnswerTimeouts;
  write: (text: string) => void;
  /** The generation in its job's trace, when jobs are traced. */
  trace?: Generation | undefined;
  /** Called with the status and headers of every answer. */
  onHead?: ((status: number, headers: IncomingHttpHeaders) => void) | undefined;
}

/**
 * Sends a translated request to the upstream and writes its answer, translated, as it comes or as a whole.
 * @throws RouterError for an answer that is an error or is not complete; the signal's reason; the connection's errors
 */
export async function relayAnswer(
  options: RelayOptions,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Ending> {
  if (!options.trace) return relay(options, request, signal);
  const span = new GenerationSpan(options.trace);
  const write = (text: string): void => {
    span.heard();
    options.write(text);
  };
  const headers = { ...request.headers, ...contextHeaders(span.context) };
  try {
    const ending = await relay({ ...options, write }, { ...request, headers }, signal);
    span.ended(ending);
    return ending;
  } catch (error) {
    span.failed(error, signal);
    throw error;
  }
}

function contextHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

async function relay(
  { http, upstream, translation, minted, stream, timeouts, write, onHead }: RelayOptions,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Ending> {
  if (stream) {
    const listener = new StreamListener(upstream, translation.stream(minted), write);
    const patience = { firstMs: timeouts.firstTokenMs, idleMs: timeouts.idleMs };
    await http.send(request, overheard(listener, onHead), patience, signal);
    return listener.end();
  }
  const listener = new WholeListener(upstream);
  const patience = { firstMs: timeouts.answerMs, idleMs: timeouts.answerMs };
  await http.send(request, overheard(listener, onHead), patience, signal);
  const { body, ending } = translation.reply(listener.end(), minted);
  write(JSON.stringify(body));
  return ending;
}

function overheard(listener: Listener, onHead: RelayOptions['onHead']): Listener {
  if (!onHead) return listener;
  return {
    onStart: (status, headers) => {
      onHead(status, headers);
      listener.onStart(status, headers);
    },
    onData: (chunk) => listener.onData(chunk),
  };
}
