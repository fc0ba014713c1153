import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import { webhookSelections, type WebhookOwner } from './webhook-event.ts';

const owner = z.custom<WebhookOwner>((value) => /^(?:router|(?:user|team):\w+)$/.test(String(value)));

/** The stored record of an endpoint. Times in ms since 1970. */
export const webhookEndpointSchema = z.object({
  id: z.string(),
  owner,
  url: z.string(),
  description: z.string().optional(),
  /** The selected types and groups of events. A newer release may define more. */
  events: createStoredSchema(z.array(z.string())),
  /** The sealed secrets, newest first. Until they expire, older secrets sign as well. */
  secrets: createStoredSchema(z.array(z.object({ sealed: z.string(), expiresAt: z.number().optional() }))),
  createdAt: z.coerce.number(),
  /** Id of the person who made the endpoint; absent if the command line made it. */
  createdBy: z.string().optional(),
  disabledAt: z.coerce.number().optional(),
  /** Why the router has disabled the endpoint; absent if a person has disabled it. */
  disabledReason: z.string().optional(),
});

export type WebhookEndpoint = z.output<typeof webhookEndpointSchema>;

const maxUrlLength = 2_048;

/** Maximum number of unknown events in an error. */
const maxNamed = 5;
/** Maximum number of characters of each unknown event in an error. */
const maxNamedLength = 100;

export const webhookSettingsSchema = z.strictObject({
  /** A URL of http or https. Everybody who may see the endpoint sees its URL, so it must contain no password. */
  url: z
    .string()
    .trim()
    .max(maxUrlLength, `A URL has ${maxUrlLength} characters at most.`)
    .refine(isWebhookUrl, 'This is no http or https address, or it contains a user or a fragment.')
    .describe('The address that gets the events'),
  events: z
    .array(z.string())
    .min(1, 'Choose an event.')
    .superRefine((events, context) => {
      const unknown = events.filter((event) => !webhookSelections.includes(event));
      if (unknown.length > 0) context.addIssue({ code: 'custom', message: describeUnknownEvents(unknown) });
    })
    .transform((events) => [...new Set(events)])
    .describe('The events, such as batch.* for a group'),
  description: z
    .string()
    .trim()
    .max(200, 'A description has 200 characters at most.')
    .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'A description has no control characters.')
    .optional(),
});

export type WebhookSettings = z.output<typeof webhookSettingsSchema>;

function describeUnknownEvents(unknown: readonly string[]): string {
  const names = unknown.slice(0, maxNamed).map((event) => JSON.stringify(event.slice(0, maxNamedLength)));
  return `No such event: ${names.join(', ')}. There are ${webhookSelections.join(', ')}.`;
}

function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.hash === '';
}
