import type { JsonObject } from '#shared/core/json.ts';

/**
 * The types of events, each with its meaning. Types without `rtr.` have the names and the shape of OpenAI's platform, so that its SDKs can
 * read them.
 */
export const webhookEventTypes = {
  'batch.completed': 'every line of a batch has a result',
  'batch.failed': 'the input of a batch is not valid, or was removed before it was read',
  'batch.cancelled': 'a batch was cancelled; results that it had stay',
  'batch.expired': 'the completion window of a batch has closed; results that it had stay',
  'response.completed': 'a background response is complete',
  'response.failed': 'a background response ended with an error',
  'response.cancelled': 'a background response was cancelled',
  'response.incomplete': 'a background response ended early, as at its limit of tokens',
  'rtr.budget.threshold': 'a key, a person or a team has used 50 % or 80 % of a budget',
  'rtr.budget.exhausted':
    'a budget of a key, a person or a team has refused a request for the first time, or 99 % of it is used',
  'rtr.key.expiring': 'a key expires in seven days, or in one',
  'rtr.key.expired': 'a key has expired',
  'rtr.worker.lost': 'nothing has come from a worker for three seconds, and it was not stopped',
  'rtr.worker.ejected':
    'a worker gets no jobs with a model, because its jobs with the model fail or are slow, unlike the jobs of its peers',
  'rtr.worker.failing': 'a worker says that what it serves fails, such as its engine',
  'rtr.worker.back': 'a worker that was lost, ejected or failing serves again',
  'rtr.model.unserved':
    'models have had no working worker for longer than requests wait for one: the last workers were lost, drained or ejected, or fail',
  'rtr.model.served': 'models that were not served have a worker again',
  'rtr.errors.high': 'the router or upstreams failed more than a set share of the requests of the last five minutes',
  'rtr.errors.normal': 'the share of failed requests has fallen to half of that share or less',
  'rtr.usage.exported': 'the usage of a day is there as a file',
} as const;

export type WebhookEventType = keyof typeof webhookEventTypes;

/** What an endpoint can select: types of events, and groups of types such as `batch.*`. */
export const webhookSelections: readonly string[] = [
  ...Object.keys(webhookEventTypes),
  ...new Set(Object.keys(webhookEventTypes).map((type) => type.replace(/\.[^.]+$/, '.*'))),
];

/**
 * The owner of an event or an endpoint: a person, a team, or the router. Everything that belongs to no person or team belongs to the
 * router.
 */
export type WebhookOwner = 'router' | `user:${string}` | `team:${string}`;

/** An event. It is sent to each endpoint of its owners that has selected the type. */
export interface WebhookEvent {
  /** A unique id, see `createEventId`. An event that is emitted again with the same id is not sent again. */
  id: string;
  type: WebhookEventType;
  owners: readonly WebhookOwner[];
  /** For a batch or a response, only its id, as on OpenAI's platform. The receiver requests the rest with a key. */
  data: JsonObject;
}

/** Returns the person or team that is an owner; undefined for the router. */
export function parseWebhookOwner(owner: WebhookOwner): { kind: 'user' | 'team'; id: string } | undefined {
  if (owner === 'router') return undefined;
  return { kind: owner.startsWith('user:') ? 'user' : 'team', id: owner.slice('user:'.length) };
}
