import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClientContext, RunClientCommand } from '../client/client-context.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { toPathSegment } from '../path-segment.ts';
import type { BatchObject } from './batch-object.ts';
import { downloadBatch } from './download-batch.ts';
import { listBatches } from './list-batches.ts';
import { submitBatch } from './submit-batch.ts';
import { watchBatch } from './watch-batch.ts';

export function createBatchesCommand(run: RunClientCommand): Command {
  const command = new Command('batches').description(
    'run many requests in the background; uses the key in RTR_KEY and the router at RTR_URL',
  );
  const json = new Option('--json', 'print JSON instead of sentences');
  const batch = 'id of the batch';
  command
    .command('submit')
    .description('upload a file with one request in each line, and create a batch of them')
    .argument('<file>', 'lines of JSON, each with custom_id, method, url and body; - for the standard input')
    .option('--window <hours>', 'time after which unfinished requests expire, 1h to 168h', readWindow, '24h')
    .option('--watch', 'show the progress until the batch has ended')
    .addOption(json)
    .action((file: string, options: { window: string; watch?: true; json?: true }) =>
      run(options, (context) => submitBatch(context, file, options)),
    );
  command
    .command('list')
    .description('list batches, newest first')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 20)
    .addOption(json)
    .action((options: { limit: number; json?: true }) =>
      run(options, (context) => listBatches(context, options.limit)),
    );
  command
    .command('watch')
    .description('show the progress of a batch until it has ended; fails unless the batch completes')
    .argument('<batch>', batch)
    .addOption(json)
    .action((id: string, options: { json?: true }) => run(options, (context) => watchBatch(context, id)));
  command
    .command('download')
    .description('write the answers and the errors of an ended batch into files')
    .argument('<batch>', batch)
    .option('--out <folder>', 'folder of the files; - prints the answers, and then the errors', '.')
    .option('--force', 'replace files that exist')
    .addOption(json)
    .action((id: string, options: { out: string; force?: true; json?: true }) =>
      run(options, (context) => downloadBatch(context, id, options)),
    );
  command
    .command('cancel')
    .description('run no more requests of a batch; the answers that it has so far are kept')
    .argument('<batch>', batch)
    .addOption(json)
    .action((id: string, options: { json?: true }) => run(options, (context) => cancelBatch(context, id)));
  return command;
}

async function cancelBatch({ client, print, json }: ClientContext, id: string): Promise<void> {
  const batch = await client.call<BatchObject>('POST', `/batches/${toPathSegment(id)}/cancel`);
  print(json ? JSON.stringify(batch) : `Batch ${batch.id} is ${batch.status}.`);
}

function readWindow(text: string): string {
  const [, hours] = /^([1-9]\d{0,2})h$/.exec(text) ?? [];
  if (hours !== undefined && Number(hours) <= 168) return text;
  throw new InvalidArgumentError('must be a number of hours from 1h to 168h.');
}
