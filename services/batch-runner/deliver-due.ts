import type { DueMessage, DueMessages, TryEnd } from '#shared/accounts/webhooks/due-messages.ts';
import type { Logger } from '#shared/core/log.ts';

const firstDelayMs = 5_000;
const maxDelayMs = 6 * 3_600_000;

/** The ratio of each delay to the previous one: 5 s, 20 s, 80 s, 5 min, 21 min, 85 min, then 6 h. */
const delayRatio = 4;

/** Each delay is up to a fifth longer or shorter, so that messages that failed together are not tried again together. */
const jitter = 0.2;

/** Milliseconds after a message was first sent until it is given up: a day. */
const retriedForMs = 24 * 3_600_000;

/** Milliseconds after which a returned message is due again. By then, the job that has returned the message must be over. */
const returnedMs = 1_000;

/**
 * Outcomes of a try: `failed` if the message will be tried again, `dead` if it is given up, `returned` if this process stopped before the
 * end of the try.
 */
export const tryOutcomes = ['delivered', 'failed', 'dead', 'returned'] as const;
export type TryOutcome = (typeof tryOutcomes)[number];

/** The result of a try. The message was sent if there is no `error`. */
export interface TryResult extends Pick<TryEnd, 'status' | 'error' | 'disables'> {
  /** Whether the message is given up after an error; otherwise it is tried again for a day (see `computeRetryDelay`). */
  isPermanent?: boolean;
}

/** The common fields of messages whose tries have begun. */
interface RunningMessage {
  event: string;
  type: string;
  endpoint?: string;
  attempts: number;
  elapsedMs: number;
}

export interface DelivererOptions<Running extends RunningMessage> {
  messages: Pick<DueMessages<Running>, 'beginTry' | 'end'>;
  /** Tries to send a message once. Rejects if the signal aborts. */
  send: (message: Running, signal: AbortSignal) => Promise<TryResult>;
  /** A message in the log, such as `a webhook`. */
  noun: string;
  count: (outcome: TryOutcome) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Tries to send a message once. When the signal aborts, the message is returned to the queue. */
export type DeliverDue = (due: DueMessage, signal: AbortSignal) => Promise<void>;

/**
 * Creates the function that tries messages. If a process dies during a try, the receiver may get the message twice, with the same id. If
 * the function rejects with `store_unavailable`, the message becomes due again by itself.
 */
export function createDeliverer<Running extends RunningMessage>(options: DelivererOptions<Running>): DeliverDue {
  const { messages, send, noun, count, log } = options;
  return async (due, signal) => {
    const running = await messages.beginTry(due);
    if (running === undefined) return;
    if ('givenUp' in running) {
      report('dead', { id: due.id, error: running.givenUp });
      return;
    }
    const startedAt = performance.now();
    const result = await send(running, signal).catch((error: unknown) => {
      if (signal.aborted) return 'returned' as const;
      throw error;
    });
    const end = computeEnd(running, result, performance.now() - startedAt);
    if (!(await messages.end(due, end))) return;
    const { event, endpoint, type } = running;
    const failure = end.counts ? 'failed' : 'returned';
    report(end.state === 'pending' ? failure : end.state, { id: due.id, event, endpoint, type, error: end.error });
  };

  function report(outcome: TryOutcome, facts: object): void {
    count(outcome);
    if (outcome === 'dead') log.warn(facts, `${noun} was given up`);
    else if (outcome === 'failed') log.info(facts, `${noun} will be tried again`);
  }
}

function computeEnd({ attempts, elapsedMs }: RunningMessage, result: TryResult | 'returned', ms: number): TryEnd {
  if (result === 'returned') return { state: 'pending', delayMs: returnedMs, counts: false, ms };
  const { isPermanent = false, ...facts } = result;
  const end = { ...facts, counts: true, ms };
  if (facts.error === undefined) return { ...end, state: 'delivered' };
  const delayMs = isPermanent ? undefined : computeRetryDelay({ attempts: attempts + 1, elapsedMs: elapsedMs + ms });
  return delayMs === undefined ? { ...end, state: 'dead' } : { ...end, state: 'pending', delayMs };
}

/**
 * Returns the milliseconds until a message is tried again; undefined if the message is given up. The last try is made 24 hours after the
 * message was first sent.
 * @param attempts number of tries that have failed
 * @param elapsedMs milliseconds since the message was first sent
 */
export function computeRetryDelay(
  { attempts: failedTries, elapsedMs }: { attempts: number; elapsedMs: number },
  random: () => number = Math.random,
): number | undefined {
  const remainingMs = retriedForMs - elapsedMs;
  if (remainingMs <= 0) return undefined;
  const delay = Math.min(maxDelayMs, firstDelayMs * delayRatio ** (failedTries - 1));
  return Math.round(Math.min(remainingMs, delay * (1 - jitter + 2 * jitter * random())));
}
