import { z } from 'zod';
import type { AlertStates } from '#shared/accounts/alerts/alert-states.ts';
import { storedJson } from '#shared/accounts/redis/stored-value.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { Trouble, WorkerProcess, WorkersSnapshot } from './worker-view.ts';

const kind = 'workers';

/** Milliseconds for which a lost worker is remembered, so that its return is reported. */
const lostKnownMs = 24 * 3_600_000;

/** Milliseconds that this process must have listened before a worker that it has not heard counts as stopped. */
const stoppedMs = 60_000;

const reportedSchema = storedJson(
  z.object({ state: z.enum(['up', 'ejected', 'failing', 'lost']), startedAt: z.number(), at: z.number() }),
);

/** What was last reported about a worker: its state, the start of its process, and the time of the report. Times in ms since 1970. */
type Reported = z.output<typeof reportedSchema>;

/**
 * Reports workers that are lost, ejected or failing, and workers that are back. Each change is reported once in the cluster. A worker that
 * an operator stops announces its stop, and is not reported. A worker that is lost and back between two checks is not reported.
 * @throws RouterError `store_unavailable`
 */
export async function checkWorkers(seen: WorkersSnapshot, states: AlertStates, now = Date.now()): Promise<void> {
  const texts = await states.readAll(kind);
  const reported = new Map(Array.from(texts, ([id, text]) => [id, reportedSchema.safeParse(text).data] as const));
  const change = async (
    { id, startedAt }: Pick<WorkerProcess, 'id' | 'startedAt'>,
    state: Reported['state'] | undefined,
    event?: WebhookEvent,
  ): Promise<void> => {
    const to = state && JSON.stringify({ state, startedAt, at: now } satisfies Reported);
    await states.change({ kind, field: id, from: texts.get(id), to, event });
  };
  for (const { trouble, ...worker } of seen.alive) {
    const before = reported.get(worker.id);
    // While no ingress tells which workers it ejects, the last report stands.
    const isUnknown = before?.state === 'ejected' && !trouble && !seen.knowsEjected;
    const state = isUnknown ? before.state : (trouble?.state ?? 'up');
    if (before?.state === state && before.startedAt === worker.startedAt) continue;
    await change(worker, state, before?.state === state ? undefined : changeEvent(worker, before?.state, trouble));
  }
  for (const worker of seen.lost) {
    const before = reported.get(worker.id);
    if (!before || before.state === 'lost' || before.startedAt !== worker.startedAt) continue;
    await change(worker, 'lost', workerEvent('rtr.worker.lost', worker));
  }
  const lost = new Set(seen.lost.map(({ id }) => id));
  for (const [id, { state, at, startedAt } = { state: 'up', at: 0, startedAt: 0 }] of reported) {
    if (seen.known.has(id) || (lost.has(id) && state !== 'lost')) continue;
    const isOver = state === 'lost' ? now - at > lostKnownMs : seen.listenedMs > stoppedMs;
    if (isOver) await change({ id, startedAt }, undefined);
  }
}

/** Returns the event to send for a live worker; undefined if there is nothing to report. */
function changeEvent(
  worker: WorkerProcess,
  before: Reported['state'] | undefined,
  trouble: Trouble | undefined,
): WebhookEvent | undefined {
  if (trouble) {
    const { state, reason, model } = trouble;
    return workerEvent(`rtr.worker.${state}`, worker, { reason, ...(model !== undefined && { model }) });
  }
  if (before === undefined || before === 'up') return undefined;
  return workerEvent('rtr.worker.back', worker, { after: before });
}

function workerEvent(
  type: Extract<WebhookEventType, `rtr.worker.${string}`>,
  { id, tier, host }: WorkerProcess,
  more: Record<string, string> = {},
): WebhookEvent {
  const data = { id, tier, ...(host !== undefined && { host }), ...more };
  return { id: createEventId(), type, owners: ['router'], data };
}
