import { Agent, request } from 'node:http';
import { readAnswer, type Answer } from './read-answer.ts';
import { requestOf, type RequestPlan } from './request-plan.ts';

/** A request that was sent. Times are those of `performance.now()`. */
export interface Sent {
  plan: RequestPlan;
  sentAt: number;
  /** When the first byte of text arrived. */
  firstTextAt: number | undefined;
  /** When its connection ended, from either side; undefined while it is open. */
  endedAt: number | undefined;
  /** Whether its client left. */
  left: boolean;
  /** Milliseconds for which its client read nothing. */
  stalledMs: number;
  answer: Answer;
}

const agent = new Agent({ keepAlive: false });

/** Milliseconds for which a client that stalls reads nothing. */
const stallMs = 1_500;

/** Sends a request and reads its answer, as its plan says. Resolves when its connection has ended, or after `maxMs`. */
export function sendRequest(
  plan: RequestPlan,
  to: { url: string; key: string },
  maxMs: number,
  onSent: (sent: Sent) => void,
): Promise<Sent> {
  const { path, body } = requestOf(plan);
  const nothing = { status: undefined, body: '', broken: undefined };
  const sent: Sent = {
    plan,
    sentAt: performance.now(),
    firstTextAt: undefined,
    endedAt: undefined,
    left: false,
    stalledMs: 0,
    answer: readAnswer(plan, nothing),
  };
  onSent(sent);
  const { promise, resolve } = Promise.withResolvers<Sent>();
  let status: number | undefined;
  let text = '';
  const end = (broken?: string): void => {
    if (sent.endedAt !== undefined) return;
    clearTimeout(timer);
    sent.endedAt = performance.now();
    sent.answer = readAnswer(plan, { status, body: text, broken: sent.left ? undefined : broken });
    resolve(sent);
  };
  const leave = (): void => {
    sent.left = true;
    end();
    asked.destroy();
  };
  const headers = {
    authorization: `Bearer ${to.key}`,
    'content-type': 'application/json',
    'x-request-id': plan.id,
    ...(plan.againMs !== undefined && { 'idempotency-key': plan.id }),
  };
  const asked = request(`${to.url}${path}`, { method: 'POST', agent, headers }, (response) => {
    status = response.statusCode;
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      // Events of an opening have no text, and their few bytes are searched again and again.
      if (sent.firstTextAt === undefined && hasText(text, plan)) sent.firstTextAt = performance.now();
      if (plan.behaviour !== 'stalls' || sent.stalledMs > 0) return;
      sent.stalledMs = stallMs;
      response.pause();
      setTimeout(() => response.resume(), stallMs);
    });
    response.once('error', (error) => end(error.message));
    for (const over of ['end', 'close']) response.once(over, () => end(response.complete ? undefined : 'cut'));
  });
  asked.once('error', (error) => end(error.message));
  const timer = setTimeout(() => {
    asked.destroy();
    sent.answer = readAnswer(plan, { status, body: text, broken: undefined });
    // Its `endedAt` stays undefined: it never ended.
    resolve(sent);
  }, maxMs);
  if (plan.behaviour === 'vanishes') setTimeout(() => sent.endedAt ?? leave(), plan.delayMs + 150);
  asked.end(JSON.stringify(body));
  return promise;
}

function hasText(body: string, { format }: RequestPlan): boolean {
  return (format === 'messages' ? /"text_delta","text":"[^"]/ : /"content":"[^"]/).test(body);
}
