import { z } from 'zod';
import type { AuditEntry, AuditFilter } from '#shared/accounts/people/audit-trail.ts';
import { auditEntrySchema } from '../../contract/audit.ts';
import { requireAccess } from '../access.ts';
import type { ApiParts } from '../api-parts.ts';
import { exportRecords } from '../export-records.ts';
import { fileOperation, listOperation, type Operation } from '../operations/operation.ts';
import { parse } from '../parse.ts';
import { hideDeleted } from '../people/hide-deleted.ts';
import { auditFile } from './audit-file.ts';

/** An export reads this many entries at once. */
const entriesPerRead = 500;

const cursorForm = z.object({
  cursor: z
    .string()
    .regex(/^\d{1,16}$/, 'This is not the id of an entry.')
    .optional(),
});
const time = z.coerce.number({ error: 'must be milliseconds since 1970' }).int().min(0).max(8.64e15).optional();
const id = z.string().min(1).max(200).optional();
const filter = z.object({
  actor: id.describe(
    'Id of the person or admin token that made the change. The id of a person also selects changes with their tokens.',
  ),
  action: z
    .string()
    .regex(/^[\w.-]{1,60}(?:\.\*)?$/, 'This is neither an action nor a group of actions such as `key.*`.')
    .optional()
    .describe('An action, or a group of actions such as `key.*`.'),
  target: id.describe('Id of what was changed.'),
  from: time.describe('The time from which changes count'),
  to: time.describe('The time until which changes count'),
});

export function auditOperations({ accounts }: Pick<ApiParts, 'accounts'>): Operation[] {
  const { audit } = accounts;
  return [
    listOperation({
      path: '/audit',
      id: 'listAuditEntries',
      subject: 'audit',
      summary: 'Lists who changed what, newest first.',
      scopes: ['read'],
      command: 'audit list',
      form: {
        references: { actor: 'person', target: 'party id' },
        columns: ['at', 'actor.name', 'action', 'target', 'from', 'details'],
        none: 'There are no such changes.',
        example: "audit list --action 'key.*' --from 2026-11-01",
      },
      query: filter,
      item: auditEntrySchema,
      isEndless: true,
      handle: async ({ actor, query }, { limit, cursor }) => {
        requireAccess('audit.read', actor);
        parse(cursorForm, { cursor });
        const { entries, next } = await audit.list(query, limit, cursor);
        return { data: await hideDeleted(accounts, entries), next };
      },
    }),
    fileOperation({
      path: '/audit/export',
      id: 'exportAuditEntries',
      subject: 'audit',
      summary: 'Writes the audit trail as a file, newest first.',
      scopes: ['read'],
      command: 'audit export',
      form: { references: { actor: 'person', target: 'party id' } },
      query: filter.extend({ format: z.enum(['csv', 'json']) }),
      files: ['text/csv', 'application/json'],
      handle: async ({ actor, query: { format, ...wanted }, response }) => {
        requireAccess('audit.read', actor);
        await exportRecords(response, auditFile[format], readEntries(wanted), (entries) =>
          hideDeleted(accounts, entries),
        );
      },
    }),
  ];

  async function* readEntries(wanted: AuditFilter): AsyncGenerator<AuditEntry> {
    let cursor: string | undefined;
    do {
      const { entries, next } = await audit.list(wanted, entriesPerRead, cursor);
      yield* entries;
      cursor = next;
    } while (cursor !== undefined);
  }
}
