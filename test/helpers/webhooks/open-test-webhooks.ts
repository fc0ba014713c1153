import { randomBytes } from 'node:crypto';
import { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { createPublicPost, type PublicPostOptions } from '#shared/public-fetch/public-post.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import type { WebhookEvent, WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { TryOutcome } from '#services/batch-runner/deliver-due.ts';
import { createWebhookDeliverer } from '#services/batch-runner/webhooks/deliver-webhook.ts';
import { silentLog } from '../silent-log.ts';
import { made } from '../accounts/made.ts';
import { openKeyStore } from '../accounts/open-key-store.ts';

/**
 * Opens webhooks.
 * @param given how messages are posted, and the prefix of a cluster whose runner this replaces
 */
export async function openTestWebhooks({
  prefix: ofCluster,
  ...options
}: Partial<PublicPostOptions> & { prefix?: string } = {}) {
  const open = await openKeyStore(undefined, ofCluster);
  const { redis, prefix, noteUnreadable: report } = open;
  const stored = ofCluster === undefined ? undefined : ((await redis.get(`${prefix}cluster-secret`)) ?? '');
  const secrets = [stored === undefined ? randomBytes(32) : Buffer.from(stored, 'base64url')];
  const keys = new OwnerKeys(() => secrets);
  const webhooks = openWebhooks(redis, prefix, { keys, report });
  const { endpoints, deliveries } = webhooks;
  const outcomes: TryOutcome[] = [];
  const deliver = createWebhookDeliverer({
    endpoints,
    deliveries,
    post: createPublicPost({ timeoutMs: 20_000, isAllowed: () => true, ...options }),
    count: (outcome) => outcomes.push(outcome),
    log: silentLog,
  });
  return {
    ...open,
    ...webhooks,
    keys,
    states: new AlertStates(redis, prefix),
    /** Adds an endpoint of the router for `batch.*`, unless another owner or other events are given. */
    add: async (
      url: string,
      { owner = 'router', events = ['batch.*'] }: { owner?: WebhookOwner; events?: string[] } = {},
    ) => made(await endpoints.create(owner, { url, events }, undefined)),
    /** Returns an event of a batch of the router, unless another owner is given. */
    batchEvent: (owner: WebhookOwner = 'router'): WebhookEvent => ({
      id: createEventId(),
      type: 'batch.completed',
      owners: [owner],
      data: { id: 'batch_1' },
    }),
    /** Returns the events of an endpoint, oldest first. */
    sent: async (endpoint: string) => {
      const found = await deliveries.list(endpoint, { limit: 100 });
      return found.map(({ type, body }) => ({ type, data: (JSON.parse(body) as { data: object }).data })).toReversed();
    },
    deliver,
    outcomes,
    /** Tries everything that is due, and returns the outcomes. */
    deliverDue: async () => {
      const before = outcomes.length;
      const due = await deliveries.takeDue(100);
      await Promise.all(due.map((each) => deliver(each, new AbortController().signal)));
      return outcomes.slice(before);
    },
    /** Makes every delivery of an endpoint due now, including those in progress. */
    makeDue: async (endpoint: string) => {
      const pending = `${prefix}webhook-pending:${endpoint}`;
      for (const id of await redis.zrange(pending, '0', '-1')) await redis.zadd(pending, 1, id);
      await redis.del(`${prefix}webhook-running:${endpoint}`);
      await redis.zadd(`${prefix}webhook-due`, 1, endpoint);
    },
  };
}

/** Webhooks under a prefix of their own, and a runner that sends to any address. */
export type TestWebhooks = Awaited<ReturnType<typeof openTestWebhooks>>;

/** Opens webhooks with an endpoint of the router for these events, of which `sent` tells unless another endpoint is given. */
export async function openAlerts(...events: string[]) {
  const webhooks = await openTestWebhooks();
  const { endpoint } = await webhooks.add('https://a.example.com', { events });
  return {
    ...webhooks,
    endpoint,
    sent: (id = endpoint.id) => webhooks.sent(id),
    /** Returns the names whose state is known. */
    known: async (kind: string) => [...(await webhooks.states.readAll(kind)).keys()],
  };
}
