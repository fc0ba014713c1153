import { z } from 'zod';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: the audit trail. The rules of `conventions.ts` apply.
 */

export const auditEntrySchema = z
  .object({
    id: z.string(),
    at: time,
    actor: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe(
        'The person or admin token that made the change. Null: the command line, or somebody who is not signed in.',
      ),
    action: z
      .string()
      .describe('For example `key.create`, `user.block`, `team.member.add`, `price.change` or `session.refused`.'),
    target: z.object({ kind: z.string(), id: z.string(), name: z.string() }).nullable().describe('What was changed.'),
    details: z.record(z.string(), z.unknown()).describe('Old and new values. Never contains a secret.'),
    from: z
      .object({
        address: z.string().optional(),
        session: z.string().optional(),
        commandLine: z.string().optional(),
        token: z.object({ id: z.string(), name: z.string() }).optional(),
      })
      .optional()
      .describe(
        'From where the change was made: a network address, a sign-in session or an admin token, and the command line (`ada@workstation`) that made the change or the token.',
      ),
    count: z
      .number()
      .optional()
      .describe(
        'The number of changes, if the entry stands for several changes of the same fields of the same target.',
      ),
    since: time.optional().describe('The time of the first of these changes.'),
  })
  .meta({ id: 'AuditEntry' });

/**
 * `GET /audit`, with the filters `actor=<id>`, `action=<action>` or a group of actions such as `key.*`, `target=<id>`, `from=<ms>` and
 * `to=<ms>`: the newest first, `{ data: AuditEntry[], next? }`, where `cursor=<next>` requests earlier entries.
 * `GET /audit/export?format=csv|json` with the same filters is a file of all entries (admins).
 */
export type AuditEntry = z.output<typeof auditEntrySchema>;
