import { Command } from 'commander';
import { formatBytes } from '../client/amounts.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath, type AdminClient } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findParty } from './find-party.ts';
import { formatMinute, printDone, printList } from './print-answers.ts';
import { downloadFile } from './download-file.ts';

interface OwnedFile {
  id: string;
  name: string;
  purpose: string;
  bytes: number;
  createdAt: number;
  expiresAt?: number;
}

/** Creates `rtr admin files …`, with which administrators see and delete the files of others. */
export function createAllFilesCommand(run: RunAdminCommand): Command {
  const command = new Command('files').description('see and delete the files of everybody');
  const owner = ['<owner>', 'user:<address>, team:<name> or key:<id>'] as const;
  const file = ['<file>', 'id of the file'] as const;
  addCommand(command, 'list', 'list the files of a person, a team or a router key, newest first')
    .argument(...owner)
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 100)
    .action((ownerText: string, options: AdminOptions & { limit: number }) =>
      run(options, (context) => listFiles(context, ownerText, options.limit)),
    );
  addCommand(command, 'download', 'write the content of a file of your own, or of a team that you own')
    .argument(...owner)
    .argument(...file)
    .option('--out <file>', 'path to write; the standard output without it')
    .action((ownerText: string, id: string, options: AdminOptions & { out?: string }) =>
      run(options, async (context) => {
        const query = { owner: await findOwner(context.client, ownerText) };
        await downloadFile(context, buildPath`/files/${toStoredId(id)}/content`, query, options.out);
      }),
    );
  addCommand(command, 'delete', 'delete a file for good')
    .argument(...owner)
    .argument(...file)
    .action((ownerText: string, id: string, options: AdminOptions) =>
      run(options, async (context) => {
        const query = { owner: await findOwner(context.client, ownerText) };
        await context.client.send('DELETE', buildPath`/files/${toStoredId(id)}`, { query });
        printDone(context, { id, deleted: true }, `The file ${id} of ${ownerText} is deleted.`);
      }),
    );
  return command;
}

async function listFiles(context: AdminContext, ownerText: string, limit: number): Promise<void> {
  const { client } = context;
  const owner = await findOwner(client, ownerText);
  await printList(context, client.listAfter<OwnedFile>('/files', 'files', { owner }, limit), {
    head: ['ID', 'PURPOSE', 'SIZE', 'CREATED (UTC)', 'EXPIRES', 'NAME'],
    row: ({ id, purpose, bytes, createdAt, expiresAt, name }) => {
      return [id, purpose, formatBytes(bytes), formatMinute(createdAt), formatMinute(expiresAt), name];
    },
    none: `${ownerText} has no files.`,
  });
}

/** Removes the prefix that the APIs of the client formats put before an id. */
function toStoredId(id: string): string {
  return id.replace(/^file[-_]/, '');
}

async function findOwner(client: AdminClient, text: string): Promise<string> {
  const { kind, value } = await findParty(client, text);
  return `${kind}:${value.id}`;
}
