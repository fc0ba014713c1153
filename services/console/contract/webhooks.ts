import { z } from 'zod';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: webhooks. The rules of `conventions.ts` apply.
 */

export const webhookSettingsSchema = z.object({
  url: z.string(),
  events: z
    .array(z.string())
    .describe('Types of events such as `batch.completed`, and groups of types such as `batch.*`.'),
  description: z.string().exactOptional(),
});

export type WebhookSettings = z.output<typeof webhookSettingsSchema>;

export const webhookSchema = webhookSettingsSchema
  .extend({
    id: z.string(),
    kind: z.enum(['router', 'user', 'team']),
    owner: z
      .object({ id: z.string(), name: z.string() })
      .exactOptional()
      .describe('The person or team that the webhook belongs to. Absent for a webhook of the router.'),
    enabled: z.boolean(),
    disabledReason: z
      .string()
      .exactOptional()
      .describe('Why the router has disabled the webhook. Absent if a person has disabled it.'),
    createdAt: time,
    createdBy: z.string().exactOptional().describe('The name of the person who created the webhook.'),
  })
  .meta({ id: 'Webhook' });

/**
 * `GET /webhooks`: the endpoints of the person and of the teams that they own; for an admin, all endpoints.
 * `POST /webhooks` with a NewWebhook answers `{ webhook, secret }`. The secret is shown only this once. `PATCH /webhooks/<id>` with a part
 * of WebhookSettings, or `{ enabled }`, answers the webhook. `POST /webhooks/<id>/rotate` `{ overlapMs }` makes a new secret, signs with
 * the previous one too for that time, and answers `{ webhook, secret }`. `DELETE /webhooks/<id>` removes it with its deliveries.
 */
export type Webhook = z.output<typeof webhookSchema>;

export const webhookWithSecretSchema = z
  .object({
    webhook: webhookSchema,
    secret: z.string().describe('The secret that signs events. It is shown only this once.'),
  })
  .meta({ id: 'WebhookWithSecret' });

/** The body of `POST /webhooks`. Admins may create webhooks of the router and of other people. Owners of a team may create its webhooks. */
export interface NewWebhook extends WebhookSettings {
  kind: 'router' | 'user' | 'team';
  teamId?: string;
  /** The owner of a person's webhook; absent: the signed-in person. */
  userId?: string;
}

export const deliverySchema = z
  .object({
    id: z.string().describe('The id that the receiver gets in the header `webhook-id`.'),
    event: z.object({ id: z.string(), type: z.string() }),
    state: z.enum(['pending', 'delivered', 'dead']),
    attempts: z.number().describe('The number of tries so far.'),
    createdAt: time,
    nextAt: time.exactOptional().describe('The time of the next try.'),
    endedAt: time.exactOptional(),
    last: z
      .object({ at: time, ms: z.number(), status: z.number().exactOptional(), error: z.string().exactOptional() })
      .exactOptional(),
  })
  .meta({ id: 'Delivery' });

/**
 * `GET /webhooks/<id>/deliveries?state=<state>&limit=<1..500>`: deliveries, newest first. `POST /webhooks/<id>/test` sends a test event and
 * answers its pending delivery. `POST /webhooks/<id>/repeat` `{ deliveries? }` sends these deliveries again, or all dead deliveries, and
 * answers `{ repeated }`; 409 while the webhook is disabled.
 */
export type Delivery = z.output<typeof deliverySchema>;
