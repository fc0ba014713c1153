import type { IncomingHttpHeaders } from 'node:http';
import { fittedLimitHeader } from '#shared/formats/context-overflow.ts';
import type { TraceContext } from '#shared/core/tracing/tracing.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Ending, AnswerContext, Translation } from '#shared/translate/translation.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { BytesListener } from './bytes-listener.ts';
import type { AnswerListener } from './exchange.ts';
import { GenerationSpan, type Generation } from './generation-span.ts';
import type { OutputFit } from './output-fit.ts';
import { PausableStream, type PausableTurn } from './pausable-turn.ts';
import { StreamListener } from './stream-listener.ts';
import type { UpstreamHttp, UpstreamRequest } from './upstream-http.ts';
import { heldAnswersBudget } from './held-answers-budget.ts';
import { writeAnswer, WholeListener } from './whole-listener.ts';

/** Timeouts of an answer, in milliseconds. */
export interface AnswerTimeouts {
  firstTokenMs: number;
  idleMs: number;
  /** The time for an answer that is not streamed. */
  answerMs: number;
}

export interface RelayOptions {
  http: Pick<UpstreamHttp, 'send'>;
  upstream: HttpUpstreamFormat;
  translation: Pick<Translation, 'reply' | 'stream' | 'bytes'>;
  answerContext: AnswerContext;
  /** Whether the request asks the upstream for a stream. */
  stream: boolean;
  timeouts: AnswerTimeouts;
  write: (piece: string | Uint8Array) => void;
  /** See `Reply.head`. Called for answers of plain bytes, and if a limit of output tokens was lowered. */
  head: (headers: Record<string, string>) => void;
  /** Resolves when there is room for further pieces of a stream; until then, the upstream is not read. Undefined if there is room now. */
  room?: (() => Promise<void> | undefined) | undefined;
  /** Resolves when a stream may begin; undefined if it may begin at once. See `AnswerListener.ready`. */
  ready?: (() => Promise<void> | undefined) | undefined;
  trace?: Generation | undefined;
  /** Lowers the limit of output tokens if the upstream refuses it; undefined if requests are not fitted. */
  fit?: OutputFit | undefined;
  /** Continues the answer if the upstream pauses it. */
  turn?: PausableTurn | undefined;
  /** Called with the status and headers of every answer. */
  onHead?: ((status: number, headers: IncomingHttpHeaders) => void) | undefined;
}

/**
 * Sends a translated request to the upstream and writes the translated answer, as it arrives or whole. With a `fit`, a request whose limit
 * of output tokens is refused is sent again with a lower limit, which a header reports to the client.
 * @throws RouterError for an answer that is an error or incomplete; the signal's reason; the connection's errors
 */
export async function relayAnswer(
  options: RelayOptions,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<Ending> {
  const { fit, head } = options;
  if (!fit) return relayTraced(options, request, signal);
  const onHead = (status: number, headers: IncomingHttpHeaders): void => {
    if (status === 200) fit.release();
    options.onHead?.(status, headers);
  };
  try {
    return await relayTraced({ ...options, onHead }, request, signal);
  } catch (error) {
    const fitted = signal.aborted ? undefined : await fit.lowerLimit(error);
    if (!fitted) throw error;
    head({ [fittedLimitHeader]: String(fitted.limit) });
    return relayAnswer(options, { ...request, body: fitted.body }, signal);
  }
}

async function relayTraced(options: RelayOptions, request: UpstreamRequest, signal: AbortSignal): Promise<Ending> {
  if (!options.trace) return relay(options, request, signal);
  const span = new GenerationSpan(options.trace);
  const write = (piece: string | Uint8Array): void => {
    span.recordPiece();
    options.write(piece);
  };
  const headers = { ...request.headers, ...contextHeaders(span.context) };
  try {
    const ending = await relay({ ...options, write }, { ...request, headers }, signal);
    span.end(ending);
    return ending;
  } catch (error) {
    span.fail(error, signal);
    throw error;
  }
}

function contextHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

async function relay(options: RelayOptions, request: UpstreamRequest, signal: AbortSignal): Promise<Ending> {
  const { http, upstream, translation, answerContext, stream, timeouts, write, head, room, ready, onHead, turn } =
    options;
  const streamTimeouts = { firstMs: timeouts.firstTokenMs, idleMs: timeouts.idleMs };
  if (stream && translation.bytes) {
    const listener = new BytesListener(upstream, head, write);
    await http.send(request, withHooks(listener, onHead, { room }), streamTimeouts, signal);
    listener.end(translation.bytes.mayBeEmpty);
    return translation.bytes.ending(answerContext);
  }
  if (stream) {
    const inner = translation.stream(answerContext);
    const pausable = turn && new PausableStream(inner, turn);
    for (let sent = request; ; sent = { ...request, body: turn?.writeContinuation() ?? [] }) {
      const listener = new StreamListener(upstream, pausable ?? inner, write);
      await http.send(sent, withHooks(listener, onHead, { room, ready }), streamTimeouts, signal);
      const ending = listener.end();
      if (pausable?.isPaused !== true) return ending;
    }
  }
  const answerTimeouts = { firstMs: timeouts.answerMs, idleMs: timeouts.answerMs };
  const heldAnswer = heldAnswersBudget.openAnswer();
  const receive = async (sent: UpstreamRequest): Promise<JsonObject> => {
    const listener = new WholeListener(upstream, heldAnswer.grow);
    await http.send(sent, withHooks(listener, onHead), answerTimeouts, signal);
    return listener.end();
  };
  try {
    let answer = await receive(request);
    while (turn?.addMessage(answer) === true) answer = await receive({ ...request, body: turn.writeContinuation() });
    const { body, ending } = translation.reply({ ...answer, ...turn?.wholeTurnFields() }, answerContext);
    write(writeAnswer(upstream, body));
    return ending;
  } finally {
    heldAnswer.release();
  }
}

/** Wraps a listener so that `onHead` is called before `onStart`, and the waits `ready` and `room` apply. */
function withHooks(
  listener: AnswerListener,
  onHead: RelayOptions['onHead'],
  { room, ready }: Pick<RelayOptions, 'room' | 'ready'> = {},
): AnswerListener {
  if (!onHead && !room && !ready) return listener;
  return {
    room,
    ready,
    onStart: (status, headers) => {
      onHead?.(status, headers);
      listener.onStart(status, headers);
    },
    onData: (chunk) => listener.onData(chunk),
  };
}
