import { UnreadableRecordError } from '#shared/accounts/redis/stored-records.ts';
import type { Logger } from '#shared/core/log.ts';
import { version } from '#shared/core/version.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import type { PublicPost } from '#shared/public-fetch/public-post.ts';
import { computeRetryDelay } from '#shared/accounts/webhooks/compute-retry-delay.ts';
import type {
  AttemptEnd,
  DueDelivery,
  RunningDelivery,
  WebhookDeliveries,
} from '#shared/accounts/webhooks/webhook-deliveries.ts';
import type { WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookEndpoints } from '#shared/accounts/webhooks/webhook-endpoints.ts';
import { signWebhook } from '#shared/accounts/webhooks/webhook-signature.ts';

/** Outcomes of a try: `dead` if the delivery is given up, `returned` if this process stopped before the end of the try. */
export const tryOutcomes = ['delivered', 'failed', 'dead', 'returned'] as const;
export type TryOutcome = (typeof tryOutcomes)[number];

export interface WebhookDelivererParts {
  endpoints: Pick<WebhookEndpoints, 'find' | 'unsealSigningSecrets'>;
  deliveries: Pick<WebhookDeliveries, 'beginTry' | 'end'>;
  post: PublicPost;
  count: (outcome: TryOutcome) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Tries a delivery once. When the signal aborts, the delivery is returned to the queue and due at once. */
export type DeliverWebhook = (due: DueDelivery, signal: AbortSignal) => Promise<void>;

/** Status with which an endpoint declines further events. */
const goneStatus = 410;

/**
 * Creates the function that tries deliveries. A 2xx answer ends a delivery. 410 gives the delivery up and disables its endpoint. After any
 * other outcome, the delivery is tried again for a day (see `computeRetryDelay`). If a process dies during a try, the receiver may get the
 * message twice, with the same `webhook-id`. If the function rejects with `store_unavailable`, the delivery becomes due again by itself.
 */
export function createWebhookDeliverer({
  endpoints,
  deliveries,
  post,
  count,
  log,
}: WebhookDelivererParts): DeliverWebhook {
  return async function deliverWebhook(due, signal) {
    const running = await deliveries.beginTry(due);
    if (running === undefined) return;
    if ('givenUp' in running) {
      report('dead', { id: due.id }, running.givenUp);
      return;
    }
    const startedAt = performance.now();
    const answer = await sendOnce(running, signal);
    const end = computeEnd(running, answer, performance.now() - startedAt);
    if (await deliveries.end(due, end)) report(toOutcome(end), running, end.error);
  };

  async function sendOnce(delivery: RunningDelivery, signal: AbortSignal): Promise<Answer> {
    try {
      const endpoint = await endpoints.find(delivery.endpoint);
      if (!endpoint) return { error: 'its endpoint was removed' };
      const secrets = endpoints.unsealSigningSecrets(endpoint);
      if (!secrets) return { error: 'its secret was sealed with a SEAL_SECRET that the runner does not have' };
      return { status: await send(delivery, endpoint, secrets, signal) };
    } catch (error) {
      if (signal.aborted) return 'given back';
      if (error instanceof PublicFetchError) return { error: error.message };
      if (error instanceof UnreadableRecordError) return { error: 'its endpoint cannot be read by this release' };
      throw error;
    }
  }

  function send(
    { id, body }: RunningDelivery,
    { url }: WebhookEndpoint,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<number> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `model-router/${version}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook({ id, timestamp, body }, secrets),
    };
    return post(new URL(url), { headers, body }, signal);
  }

  function report(outcome: TryOutcome, facts: { id: string; endpoint?: string; type?: string }, error?: string) {
    count(outcome);
    const { id, endpoint, type } = facts;
    if (outcome === 'dead') log.warn({ id, endpoint, type, error }, 'a webhook was given up');
    else if (outcome === 'failed') log.info({ id, endpoint, type, error }, 'a webhook will be tried again');
  }
}

/** Result of a try: the status of an answer, the reason why there is none, or `given back` if this process stopped first. */
type Answer = { status: number } | { error: string } | 'given back';

function computeEnd({ attempts, elapsedMs, once }: RunningDelivery, answer: Answer, ms: number): AttemptEnd {
  if (answer === 'given back') return { state: 'pending', delayMs: 0, counts: false, ms };
  const status = 'status' in answer ? answer.status : undefined;
  if (status !== undefined && status >= 200 && status < 300) return { state: 'delivered', counts: true, status, ms };
  const error = 'error' in answer ? answer.error : describeStatus(answer.status);
  const failure = { counts: true, status, error, ms };
  if (status === goneStatus) return { ...failure, state: 'dead', disables: error };
  const delayMs = once ? undefined : computeRetryDelay({ attempts: attempts + 1, elapsedMs: elapsedMs + ms });
  return delayMs === undefined ? { ...failure, state: 'dead' } : { ...failure, state: 'pending', delayMs };
}

function toOutcome({ state, counts }: AttemptEnd): TryOutcome {
  if (state !== 'pending') return state;
  return counts ? 'failed' : 'returned';
}

function describeStatus(status: number): string {
  if (status === goneStatus) return 'it answered 410: it wants no further events';
  if (status >= 300 && status < 400) return `it answered with a redirect (${status}), which is not followed`;
  return `it answered ${status}`;
}
