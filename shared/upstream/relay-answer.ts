import type { JsonObject } from '#shared/core/json.ts';
import type { TraceContext, TraceSpan } from '#shared/core/tracing/tracing.ts';
import { fittedLimitHeader } from '#shared/formats/context-overflow.ts';
import type { Ending, Translation } from '#shared/translate/translation.ts';
import { BytesListener } from './bytes-listener.ts';
import { GenerationSpan } from './generation-span.ts';
import { heldAnswersBudget } from './held-answers-budget.ts';
import { PausableStream } from './pausable-turn.ts';
import type { Relay } from './relay.ts';
import { RelayedListener } from './relayed-listener.ts';
import { StreamListener } from './stream-listener.ts';
import type { UpstreamRequest } from './upstream-http.ts';
import { writeAnswer, WholeListener } from './whole-listener.ts';

/**
 * Sends a request to the upstream and writes the translated answer, as it arrives or whole. If the upstream refuses the limit of output
 * tokens of a request with a `fit`, sends the request again with a lower limit. A header reports the lower limit to the client.
 * @param sent the request to send, if it differs from the written request
 * @throws RouterError for an answer that is an error or incomplete; the signal's reason; the connection's errors
 */
export async function relayAnswer(relay: Relay, sent: UpstreamRequest = relay.request): Promise<Ending> {
  const { request, reply, signal } = relay;
  const { job, fit, turn, calibrate } = request;
  try {
    const ending = await (job.trace ? relayTraced(relay, sent, job.trace) : relayOnce(relay, sent));
    if (turn?.isContinued !== true) calibrate?.(ending.usage.promptTokens);
    return ending;
  } catch (error) {
    const fitted = signal.aborted ? undefined : await fit?.lowerLimit(error);
    if (!fitted) throw error;
    reply.addHeaders({ [fittedLimitHeader]: String(fitted.limit) });
    return relayAnswer(relay, { ...sent, body: fitted.body });
  }
}

async function relayTraced(relay: Relay, sent: UpstreamRequest, parent: TraceSpan): Promise<Ending> {
  const { upstream, request, reply, signal } = relay;
  const { traceName: provider, http } = upstream;
  const { model, stream } = request.job;
  const { operation } = request.route.format;
  const span = new GenerationSpan({ parent, provider, server: http.server, operation, model, stream });
  const tracedReply: Relay['reply'] = {
    addHeaders: (headers) => reply.addHeaders(headers),
    write: (piece) => {
      span.recordPiece();
      reply.write(piece);
    },
    waitForRoom: () => reply.waitForRoom?.(),
  };
  const headers = { ...sent.headers, ...createContextHeaders(span.context) };
  try {
    const ending = await relayOnce({ ...relay, reply: tracedReply }, { ...sent, headers });
    span.end(ending);
    return ending;
  } catch (error) {
    span.fail(error, signal);
    throw error;
  }
}

function createContextHeaders({ traceparent, tracestate }: TraceContext): Record<string, string> {
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}

function relayOnce(relay: Relay, sent: UpstreamRequest): Promise<Ending> {
  const { job, route } = relay.request;
  if (!job.stream) return relayWhole(relay, sent);
  const { bytes } = route.translation;
  return bytes ? relayBytes(relay, sent, bytes) : relayEvents(relay, sent);
}

async function relayEvents(relay: Relay, sent: UpstreamRequest): Promise<Ending> {
  const { upstream, request, reply, signal } = relay;
  const { route, answerContext, turn } = request;
  const timeouts = { firstMs: upstream.timeouts.firstTokenMs, idleMs: upstream.timeouts.idleMs };
  const write = (text: string): void => reply.write(text);
  const translated = route.translation.createStream(answerContext);
  const pausable = turn && new PausableStream(translated, turn);
  const stream = pausable ?? translated;
  const heldAnswer = stream.keepsEvents === true ? heldAnswersBudget.openAnswer() : undefined;
  try {
    for (let next = sent; ; next = { ...sent, body: turn?.writeContinuation() ?? [] }) {
      const listener = new StreamListener(route.format, stream, write, heldAnswer?.grow);
      await upstream.http.send(next, new RelayedListener(listener, relay), timeouts, signal);
      const ending = listener.end();
      if (pausable?.isPaused !== true) return ending;
    }
  } finally {
    heldAnswer?.release();
  }
}

async function relayBytes(
  relay: Relay,
  sent: UpstreamRequest,
  { ending, mayBeEmpty }: NonNullable<Translation['bytes']>,
): Promise<Ending> {
  const { upstream, request, reply, signal } = relay;
  const timeouts = { firstMs: upstream.timeouts.firstTokenMs, idleMs: upstream.timeouts.idleMs };
  const listener = new BytesListener(
    request.route.format,
    (headers) => reply.addHeaders(headers),
    (piece) => reply.write(piece),
  );
  await upstream.http.send(sent, new RelayedListener(listener, relay), timeouts, signal);
  listener.end(mayBeEmpty);
  return ending(request.answerContext);
}

async function relayWhole(relay: Relay, sent: UpstreamRequest): Promise<Ending> {
  const { upstream, request, reply, signal } = relay;
  const { route, answerContext, turn } = request;
  const timeouts = { firstMs: upstream.timeouts.answerMs, idleMs: upstream.timeouts.answerMs };
  const heldAnswer = heldAnswersBudget.openAnswer();
  const receive = async (next: UpstreamRequest): Promise<JsonObject> => {
    const listener = new WholeListener(route.format, heldAnswer.grow);
    await upstream.http.send(next, new RelayedListener(listener, relay), timeouts, signal);
    return listener.end();
  };
  try {
    let answer = await receive(sent);
    while (turn?.addMessage(answer) === true) answer = await receive({ ...sent, body: turn.writeContinuation() });
    const whole = turn ? { ...answer, ...turn.computeTurnFields() } : answer;
    const { body, ending } = route.translation.translateReply(whole, answerContext);
    reply.write(writeAnswer(route.format, body));
    return ending;
  } finally {
    heldAnswer.release();
  }
}
