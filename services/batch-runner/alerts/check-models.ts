import { z } from 'zod';
import type { AlertStates, FieldChange } from '#shared/accounts/webhooks/alerts/alert-states.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { WebhookEvent, WebhookEventType } from '#shared/accounts/webhooks/webhook-event.ts';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import type { WorkersSnapshot } from './worker-view.ts';

const kind = 'models';

/** Milliseconds (a week) for which an unserved model is remembered, so that its return is reported. */
const unservedKeptMs = 7 * 24 * 3_600_000;

/** The same, in milliseconds (an hour), while more than half of `maxModels` are remembered. */
const crowdedKeptMs = 3_600_000;

/** Maximum of models that are remembered. Each check reads all of them, and a worker may announce ever new names. */
const maxModels = 5_000;

/** Largest number of names in one event. */
const maxNames = 100;

const stateSchema = createStoredSchema(z.object({ state: z.enum(['served', 'missing', 'unserved']), at: z.number() }));

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
  const knownStates = new Map(Array.from(texts, ([model, text]) => [model, stateSchema.safeParse(text).data] as const));
  // Changes in `silent` are stored, but not reported.
  const changes = { silent: new Map<string, ModelState | undefined>(), unserved: new Map(), served: new Map() };
  const keptMs = knownStates.size > maxModels / 2 ? crowdedKeptMs : unservedKeptMs;
  for (const model of models) {
    const knownState = knownStates.get(model);
    if (!knownState && knownStates.size + changes.silent.size >= maxModels) continue;
    if (knownState?.state === 'served') continue;
    // No ingress publishes its ejected workers now, so the workers of this model may still be ejected.
    if (knownState && !knowsEjected) continue;
    changes[knownState?.state === 'unserved' ? 'served' : 'silent'].set(model, { state: 'served', at: now });
  }
  for (const [model, knownState = { state: 'unserved', at: 0 } satisfies ModelState] of knownStates) {
    if (models.has(model)) continue;
    const { state, at } = knownState;
    if (state === 'served') changes.silent.set(model, { state: 'missing', at: now });
    else if (state === 'missing' && now - at >= graceMs) changes.unserved.set(model, { state: 'unserved', at });
    else if (state === 'unserved' && now - at > keptMs) changes.silent.set(model, undefined);
  }
  const storeChanges = async (to: ReadonlyMap<string, ModelState | undefined>, event?: WebhookEvent): Promise<void> => {
    if (to.size === 0) return;
    const fields = Array.from(to, ([field, state]): FieldChange => {
      return { field, from: texts.get(field), to: state && JSON.stringify(state) };
    });
    await states.changeAll({ kind, changes: fields, event });
  };
  await storeChanges(changes.silent);
  await storeChanges(changes.unserved, createModelEvent('rtr.model.unserved', [...changes.unserved.keys()]));
  await storeChanges(changes.served, createModelEvent('rtr.model.served', [...changes.served.keys()]));
}

function createModelEvent(
  type: Extract<WebhookEventType, `rtr.model.${string}`>,
  models: readonly string[],
): WebhookEvent {
  const data = { models: models.toSorted().slice(0, maxNames), count: models.length };
  return { id: createEventId(), type, owners: ['router'], data };
}
