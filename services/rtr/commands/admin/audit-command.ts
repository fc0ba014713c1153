import { Command } from 'commander';
import { createWholeNumberParser } from '../whole-number.ts';
import type { AdminClient, Query } from './admin-client.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { describeChange } from './describe-change.ts';
import { findParty, findPerson } from './find-party.ts';
import { formatMinute, printList } from './print-answers.ts';
import { withSpan } from './usage-options.ts';
import { readFormat, createFormatOption, downloadFile, type FileOptions } from './download-file.ts';

interface AuditEntry {
  id: string;
  at: number;
  actor: { id: string; name: string } | null;
  action: string;
  target: { kind: string; id: string; name: string } | null;
  details: Record<string, unknown>;
  from?: { address?: string; commandLine?: string; token?: { name: string } };
}

interface AuditOptions extends AdminOptions {
  actor?: string;
  action?: string;
  target?: string;
  from?: number;
  to?: number;
}

export function createAuditCommand(run: RunAdminCommand): Command {
  const command = new Command('audit').description('see who changed what');
  withFilters(addCommand(command, 'list', 'list changes, newest first'))
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 100_000), 50)
    .action((options: AuditOptions & { limit: number }) =>
      run(options, async (context) => {
        const { client } = context;
        const entries = client.list<AuditEntry>('/audit', await toQuery(client, options), options.limit);
        await printList(context, entries, {
          head: ['AT (UTC)', 'WHO', 'ACTION', 'WHAT', 'FROM', 'CHANGED'],
          row: (entry) => {
            const { at, actor, action, target } = entry;
            const targetText = target ? `${target.kind} ${target.name || target.id}` : '-';
            return [
              formatMinute(at),
              actor?.name ?? 'nobody',
              action,
              targetText,
              formatOrigin(entry),
              describeChange(entry.details),
            ];
          },
          none: 'There are no such changes.',
        });
      }),
    );
  withFilters(addCommand(command, 'export', 'write changes as a file, newest first'))
    .addOption(createFormatOption())
    .option('--out <file>', 'path of the file; the standard output without it')
    .action((options: AuditOptions & FileOptions) =>
      run(options, async (context) => {
        const query = { format: readFormat(options), ...(await toQuery(context.client, options)) };
        await downloadFile(context, '/audit/export', query, options.out);
      }),
    );
  return command;
}

function withFilters(command: Command): Command {
  return withSpan(command, 'default: everything that is kept')
    .option('--actor <who>', 'only changes by this person (address or id) or admin token (id)')
    .option('--action <action>', 'only this action, or a group of actions such as key.*')
    .option('--target <what>', 'only changes of user:<address>, team:<name>, key:<id>, or the object with another id');
}

async function toQuery(client: AdminClient, { actor, action, target, from, to }: AuditOptions): Promise<Query> {
  return {
    actor: actor?.includes('@') === true ? (await findPerson(client, actor)).id : actor,
    action,
    target: /^(?:user|team):/.test(target ?? '')
      ? (await findParty(client, target ?? '')).value.id
      : target?.replace(/^key:/, ''),
    from,
    to,
  };
}

function formatOrigin({ from = {} }: AuditEntry): string {
  const { address, token, commandLine } = from;
  const parts = [address, commandLine, token && `token ${token.name}`];
  return parts.filter((part) => part !== undefined).join(', ') || '-';
}
