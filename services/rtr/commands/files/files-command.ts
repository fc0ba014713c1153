import { Command, Option } from 'commander';
import { basename } from 'node:path';
import { formatBytes, formatTime } from '../client/amounts.ts';
import type { ClientContext, RunClientCommand } from '../client/client-context.ts';
import { fetchFile } from '../client/fetch-file.ts';
import { sendFile, type FileObject } from '../client/send-file.ts';
import { withInput } from '../client/with-input.ts';
import { findWriteTarget } from '../client/write-target.ts';
import { toTableLines } from '../table-lines.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { toPathSegment } from '../path-segment.ts';

export function createFilesCommand(run: RunClientCommand): Command {
  const command = new Command('files').description(
    'manage files for batches and requests; uses the key in RTR_KEY and the router at RTR_URL',
  );
  const json = new Option('--json', 'print JSON instead of sentences');
  const file = 'id of the file';
  command
    .command('upload')
    .description('upload a file of this machine')
    .argument('<file>', 'path of the file; - for the standard input')
    .addOption(
      new Option('--purpose <purpose>', 'what the file is for')
        .choices(['batch', 'user_data', 'vision'])
        .default('batch'),
    )
    .addOption(json)
    .action((path: string, options: { purpose: string; json?: true }) =>
      run(options, (context) => uploadFile(context, path, options.purpose)),
    );
  command
    .command('list')
    .description('list files, newest first')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 100)
    .addOption(json)
    .action((options: { limit: number; json?: true }) => run(options, (context) => listFiles(context, options.limit)));
  command
    .command('download')
    .description('write the content of a file into a file on this machine')
    .argument('<file>', file)
    .option(
      '--out <path>',
      'path to write; - prints the content; without it, the name of the file in the current folder',
    )
    .option('--force', 'replace a file that exists')
    .addOption(json)
    .action((id: string, options: { out?: string; force?: true; json?: true }) =>
      run(options, (context) => downloadFile(context, id, options)),
    );
  command
    .command('delete')
    .description('delete a file for good')
    .argument('<file>', file)
    .addOption(json)
    .action((id: string, options: { json?: true }) => run(options, (context) => deleteFile(context, id)));
  return command;
}

async function uploadFile(context: ClientContext, path: string, purpose: string): Promise<void> {
  const { print, json } = context;
  const file = await withInput(context, path, (input) => sendFile(context, input, purpose));
  print(json ? JSON.stringify(file) : `${file.filename} was uploaded as ${file.id} (${formatBytes(file.bytes)}).`);
}

async function listFiles({ client, print, json }: ClientContext, limit: number): Promise<void> {
  const { data } = await client.call<{ data: FileObject[] }>('GET', `/files?limit=${limit}`);
  if (json) for (const file of data) print(JSON.stringify(file));
  else if (data.length === 0) print('There are no files.');
  else for (const line of toFileTable(data)) print(line);
}

function toFileTable(files: readonly FileObject[]): string[] {
  const rows = files.map(({ id, purpose, bytes, created_at: created, expires_at: expires, filename }) => {
    return [id, purpose, formatBytes(bytes), formatTime(created), formatTime(expires), filename];
  });
  return toTableLines([['ID', 'PURPOSE', 'SIZE', 'CREATED (UTC)', 'EXPIRES (UTC)', 'NAME'], ...rows]);
}

async function downloadFile(
  context: ClientContext,
  id: string,
  { out, force = false }: { out?: string; force?: boolean },
): Promise<void> {
  const { client, print, json } = context;
  const { filename } = await client.call<FileObject>('GET', `/files/${toPathSegment(id)}`);
  // The person who uploaded the file chose the name. The name must not lead out of this folder, and must not make the file hidden.
  const path = out ?? (basename(filename.replaceAll('\\', '/')).replace(/^[.]+|^-$/, '') || 'unnamed');
  const hint = 'name another path with --out, or replace it with --force.';
  const target = await findWriteTarget(path, { force, hint });
  await fetchFile(context, id, target);
  if (target.kind === 'output') return;
  print(json ? JSON.stringify({ id, path }) : `The file was written to ${path}.`);
}

async function deleteFile({ client, print, json }: ClientContext, id: string): Promise<void> {
  const deletedFile = await client.call<{ id: string }>('DELETE', `/files/${toPathSegment(id)}`);
  print(json ? JSON.stringify(deletedFile) : `The file ${deletedFile.id} is deleted.`);
}
