import { z } from 'zod';
import { keyKinds } from '#shared/accounts/keys/key-format.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { ceiling, limits, time } from './conventions.ts';
import { recordingStateSchema } from './recordings.ts';

/*
 * The contract between the console's pages and its API: keys. The rules of `conventions.ts` apply.
 */

export const keySettingsSchema = z.object({
  name: z.string(),
  class: z.enum(priorityClasses),
  expiresAt: time.exactOptional(),
  models: z.array(z.string()).exactOptional().describe('Absent: all models.'),
  tiers: z.array(z.enum(tiers)).exactOptional().describe('Absent: all tiers.'),
  tools: z
    .array(z.string())
    .exactOptional()
    .describe('Names of tools, and `<server>/*` for all tools of an MCP server. Absent: all tools.'),
  limits,
  weight: z
    .number()
    .exactOptional()
    .describe(
      'The number of requests with this key that leave the queue for each request with another key of the same owner of weight 1. Absent: 1.',
    ),
});

export type KeySettings = z.output<typeof keySettingsSchema>;

export const keySchema = keySettingsSchema
  .extend({
    id: z.string(),
    kind: z.enum(keyKinds),
    owner: z
      .object({ id: z.string(), name: z.string() })
      .exactOptional()
      .describe('The person or team that the key belongs to. Absent for a router key.'),
    classInForce: z
      .enum(priorityClasses)
      .exactOptional()
      .describe(
        "The class of requests with the key. Present if it differs from `class`, because the key's owner may not use that class.",
      ),
    masked: z.string().describe('The key as it is displayed: everything but the middle of the secret.'),
    createdAt: time,
    createdBy: z.string().exactOptional().describe('The name of the person who created the key.'),
    issued: z
      .object({
        by: z.string().exactOptional().describe('The name of the person who issued the key.'),
        storesAs: z.string().describe("The owner of the key's files and batches, `key:<id>`."),
      })
      .exactOptional()
      .describe(
        'Present if an administrator has made the key for an owner whose files the administrator may not read. The key then has files, batches and responses of its own.',
      ),
    revokedAt: time.exactOptional(),
    lastUsedAt: time.exactOptional().describe('The time of the last request with the key, to the minute.'),
    replacedBy: z.string().exactOptional().describe('The id of the key that was made in place of this key.'),
    records: z.boolean().describe('Whether recording is switched on for the key itself.'),
    recording: recordingStateSchema
      .exactOptional()
      .describe('The switch by which requests with the key are recorded. Absent: they are not recorded.'),
    ceiling: ceiling.exactOptional().describe('What the owner of the key may use at most, whatever the key permits.'),
    adminSet: z
      .array(z.string())
      .exactOptional()
      .describe(
        'The settings that only administrators may change, because one of them has set them: names of fields, and `limits.<name>`.',
      ),
  })
  .meta({ id: 'Key' });

/**
 * `GET /keys`: the keys of the person and of their teams; for an admin, all keys. `POST /keys` with a NewKey answers `{ key, raw }`.
 * `PATCH /keys/<id>` with a part of KeySettings answers the key; null removes `expiresAt`, `models`, `tiers` or `tools`.
 * `POST /keys/<id>/rotate` `{ overlapMs }` creates a successor with the same settings, lets the old key expire after that time, and answers
 * `{ key, raw }`. `DELETE /keys/<id>` revokes the key.
 */
export type Key = z.output<typeof keySchema>;

export const createdKeySchema = z
  .object({ key: keySchema, raw: z.string().describe('The key with its secret. It is shown only this once.') })
  .meta({ id: 'CreatedKey' });

/**
 * The body of `POST /keys`. Admins may create router keys and keys for everybody, and the owners of a team may create its keys. Members may
 * choose the class `high` if the ceiling of the owner allows it.
 */
export interface NewKey extends Omit<KeySettings, 'class'> {
  /** Absent: `normal`. */
  class?: KeySettings['class'];
  kind: 'router' | 'user' | 'team';
  /** The owner of a personal key that an admin makes for somebody else. */
  userId?: string;
  teamId?: string;
}
