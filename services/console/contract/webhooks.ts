/*
 * The contract between the console's pages and its API: webhooks. The rules of `account.ts` apply.
 */

/**
 * `GET /webhooks`: the endpoints that the signed-in person may see: their own and those of teams that they own; for an admin, all.
 * `POST /webhooks` with a NewWebhook answers `{ webhook, secret }`: the secret is shown only this once. `PATCH /webhooks/<id>` with a part
 * of WebhookSettings, or `{ enabled }`, answers the webhook. `POST /webhooks/<id>/rotate` `{ overlapMs }` makes a new secret, lets the one
 * before sign too for that time, and answers `{ webhook, secret }`. `DELETE /webhooks/<id>` removes it with its deliveries.
 */
export interface Webhook extends WebhookSettings {
  id: string;
  kind: 'router' | 'user' | 'team';
  /** The person or team it belongs to; absent for the router's. */
  owner?: { id: string; name: string };
  enabled: boolean;
  /** Why the router has disabled it; absent when a person did. */
  disabledReason?: string;
  createdAt: number;
  /** The name of the person who created it. */
  createdBy?: string;
}

/** The settings of a webhook that can be changed. */
export interface WebhookSettings {
  url: string;
  /** Types of events, as `batch.completed`, and groups of them, as `batch.*`. */
  events: string[];
  description?: string;
}

/** Admins may create those of the router, a team's owners its own. */
export interface NewWebhook extends WebhookSettings {
  kind: 'router' | 'user' | 'team';
  /** For a team's. */
  teamId?: string;
}

/**
 * `GET /webhooks/<id>/deliveries?state=<state>&limit=<1..500>`: the newest first. `POST /webhooks/<id>/test` sends a test event and
 * answers its delivery, which is pending. `POST /webhooks/<id>/repeat` `{ deliveries? }` sends these again, or all that were given up, and
 * answers `{ repeated }`; 409 while the webhook is disabled.
 */
export interface Delivery {
  /** As the receiver sees it in `webhook-id`. */
  id: string;
  event: { id: string; type: string };
  state: 'pending' | 'delivered' | 'dead';
  /** Attempts so far. */
  attempts: number;
  createdAt: number;
  /** When it is tried next. */
  nextAt?: number;
  endedAt?: number;
  last?: { at: number; ms: number; status?: number; error?: string };
}
