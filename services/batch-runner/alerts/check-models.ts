import { z } from 'zod';
import type { AlertStates, FieldChange } from '#shared/accounts/alerts/alert-states.ts';
import { storedJson } from '#shared/accounts/redis/stored-value.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { WorkersSnapshot } from './worker-view.ts';

const kind = 'models';

/** Milliseconds (a week) for which an unserved model is remembered, so that its return is reported. */
const unservedKnownMs = 7 * 24 * 3_600_000;

/** Largest number of names in one event. */
const maxNamed = 100;

const stateSchema = storedJson(z.object({ state: z.enum(['served', 'missing', 'unserved']), at: z.number() }));

/** `missing`: no worker has served the model since `at`, in ms since 1970, and this has not been reported yet. */
type ModelState = z.output<typeof stateSchema>;

/**
 * Reports models that no worker has served for a while, and models that are served again. Each change is reported once in the cluster.
 * Models that change together, such as those of one worker, share one event.
 * @param graceMs milliseconds without a worker after which a model is reported
 * @throws RouterError `store_unavailable`
 */
export async function checkModels(
  { models, knowsEjected }: Pick<WorkersSnapshot, 'models' | 'knowsEjected'>,
  { states, graceMs }: { states: AlertStates; graceMs: number },
  now = Date.now(),
): Promise<void> {
  const texts = await states.readAll(kind);
  const known = new Map(Array.from(texts, ([model, text]) => [model, stateSchema.safeParse(text).data] as const));
  // Changes in `silent` are stored, but not reported.
  const changes = { silent: new Map<string, ModelState | undefined>(), unserved: new Map(), served: new Map() };
  for (const model of models) {
    const before = known.get(model);
    if (before?.state === 'served') continue;
    // No ingress tells which workers it ejects, so the workers of this model may still be ejected.
    if (before && !knowsEjected) continue;
    changes[before?.state === 'unserved' ? 'served' : 'silent'].set(model, { state: 'served', at: now });
  }
  for (const [model, before = { state: 'unserved', at: 0 } satisfies ModelState] of known) {
    if (models.has(model)) continue;
    const { state, at } = before;
    if (state === 'served') changes.silent.set(model, { state: 'missing', at: now });
    else if (state === 'missing' && now - at >= graceMs) changes.unserved.set(model, { state: 'unserved', at });
    else if (state === 'unserved' && now - at > unservedKnownMs) changes.silent.set(model, undefined);
  }
  const change = async (to: ReadonlyMap<string, ModelState | undefined>, event?: WebhookEvent): Promise<void> => {
    if (to.size === 0) return;
    const fields = Array.from(to, ([field, state]): FieldChange => {
      return { field, from: texts.get(field), to: state && JSON.stringify(state) };
    });
    await states.changeAll({ kind, changes: fields, event });
  };
  await change(changes.silent);
  await change(changes.unserved, modelEvent('rtr.model.unserved', [...changes.unserved.keys()]));
  await change(changes.served, modelEvent('rtr.model.served', [...changes.served.keys()]));
}

function modelEvent(type: Extract<WebhookEventType, `rtr.model.${string}`>, models: readonly string[]): WebhookEvent {
  const data = { models: models.toSorted().slice(0, maxNamed), count: models.length };
  return { id: createEventId(), type, owners: ['router'], data };
}
