import { z } from 'zod';
import type { AlertStates } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { Trouble, WorkerProcess, WorkersSnapshot } from './worker-view.ts';

const kind = 'workers';

/** Milliseconds for which a lost worker is remembered, so that its return is reported. */
const lostKeptMs = 24 * 3_600_000;

/** Minimum milliseconds for which this process must have listened before it treats a worker that it has not heard from as stopped. */
const minListenedMs = 60_000;

const reportedStateSchema = createStoredSchema(
  z.object({ state: z.enum(['up', 'ejected', 'failing', 'lost']), startedAt: z.number(), at: z.number() }),
);

/** The last report about a worker: its state, the start of its process, and the time of the report. Times in ms since 1970. */
type ReportedState = z.output<typeof reportedStateSchema>;

/**
 * Reports workers that are lost, ejected or failing, and workers that are back. Each change is reported once in the cluster. A worker that
 * an operator stops announces its stop, and is not reported. A worker that is lost and back between two checks is not reported.
 * @throws RouterError `store_unavailable`
 */
export async function checkWorkers(snapshot: WorkersSnapshot, states: AlertStates, now = Date.now()): Promise<void> {
  const texts = await states.readAll(kind);
  const reported = new Map(Array.from(texts, ([id, text]) => [id, reportedStateSchema.safeParse(text).data] as const));
  const storeState = async (
    { id, startedAt }: Pick<WorkerProcess, 'id' | 'startedAt'>,
    state: ReportedState['state'] | undefined,
    event?: WebhookEvent,
  ): Promise<void> => {
    const to = state && JSON.stringify({ state, startedAt, at: now } satisfies ReportedState);
    await states.change({ kind, field: id, from: texts.get(id), to, event });
  };
  for (const { trouble, ...worker } of snapshot.alive) {
    const lastReport = reported.get(worker.id);
    // While no ingress publishes its ejected workers, a worker that was last reported as ejected still counts as ejected.
    const isUnknown = lastReport?.state === 'ejected' && !trouble && !snapshot.knowsEjected;
    const state = isUnknown ? lastReport.state : (trouble?.state ?? 'up');
    if (lastReport?.state === state && lastReport.startedAt === worker.startedAt) continue;
    await storeState(
      worker,
      state,
      lastReport?.state === state ? undefined : createChangeEvent(worker, lastReport?.state, trouble),
    );
  }
  for (const worker of snapshot.lost) {
    const lastReport = reported.get(worker.id);
    if (!lastReport || lastReport.state === 'lost' || lastReport.startedAt !== worker.startedAt) continue;
    await storeState(worker, 'lost', createWorkerEvent('rtr.worker.lost', worker));
  }
  const lost = new Set(snapshot.lost.map(({ id }) => id));
  for (const [id, { state, at, startedAt } = { state: 'up', at: 0, startedAt: 0 }] of reported) {
    if (snapshot.maybeAlive.has(id) || (lost.has(id) && state !== 'lost')) continue;
    const isForgotten = state === 'lost' ? now - at > lostKeptMs : snapshot.listenedMs > minListenedMs;
    if (isForgotten) await storeState({ id, startedAt }, undefined);
  }
}

/** Returns the event to send for a live worker; undefined if there is nothing to report. */
function createChangeEvent(
  worker: WorkerProcess,
  lastState: ReportedState['state'] | undefined,
  trouble: Trouble | undefined,
): WebhookEvent | undefined {
  if (trouble) {
    const { state, reason, model } = trouble;
    return createWorkerEvent(`rtr.worker.${state}`, worker, { reason, ...(model !== undefined && { model }) });
  }
  if (lastState === undefined || lastState === 'up') return undefined;
  return createWorkerEvent('rtr.worker.back', worker, { after: lastState });
}

function createWorkerEvent(
  type: Extract<WebhookEventType, `rtr.worker.${string}`>,
  { id, tier, host }: WorkerProcess,
  details: Record<string, string> = {},
): WebhookEvent {
  const data = { id, tier, ...(host !== undefined && { host }), ...details };
  return { id: createEventId(), type, owners: ['router'], data };
}
