import { Command } from 'commander';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findParty } from './find-party.ts';
import { formatMinute, printDone, printFacts, printList } from './print-answers.ts';

interface Batch {
  id: string;
  owner: { kind: string; name: string };
  endpoint: string;
  model?: string;
  state: string;
  createdAt: number;
  expiresAt: number;
  total: number;
  succeeded: number;
  errored: number;
  cost: number;
}

const batchTable = {
  head: ['ID', 'OWNER', 'STATE', 'DONE', 'FAILED', 'CREATED (UTC)', 'MODEL'],
  row: ({ id, owner, state, total, succeeded, errored, createdAt, model = '-' }: Batch) => {
    return [id, owner.name, state, `${succeeded + errored} of ${total}`, errored, formatMinute(createdAt), model];
  },
};

/** Creates `rtr admin batches …`, with which administrators see and cancel the batches of others. */
export function createAllBatchesCommand(run: RunAdminCommand): Command {
  const command = new Command('batches').description('see and cancel the batches of everybody');
  addCommand(command, 'list', 'list the batches of a person, a team or a router key, newest first')
    .argument('<owner>', 'user:<address>, team:<name> or key:<id>')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 10_000), 20)
    .action((owner: string, options: AdminOptions & { limit: number }) =>
      run(options, (context) => listBatches(context, owner, options.limit)),
    );
  addCommand(command, 'open', 'list all unfinished batches, of every owner').action((options: AdminOptions) =>
    run(options, async (context) =>
      printList(context, await context.client.get<Batch[]>('/batches/open'), {
        ...batchTable,
        none: 'All batches are over.',
      }),
    ),
  );
  addCommand(command, 'show', 'show a batch and how many of its requests failed')
    .argument('<batch>', 'id of the batch')
    .action((id: string, options: AdminOptions) =>
      run(options, async (context) => printBatch(context, await context.client.get<Batch>(buildPath`/batches/${id}`))),
    );
  addCommand(command, 'cancel', 'run no more requests of a batch; the answers that it has so far are kept')
    .argument('<batch>', 'id of the batch')
    .action((id: string, options: AdminOptions) => run(options, (context) => cancelBatch(context, id)));
  return command;
}

async function listBatches(context: AdminContext, owner: string, limit: number): Promise<void> {
  const { client } = context;
  const { kind, value: party } = await findParty(client, owner);
  const batches = client.listAfter<Batch>('/batches', 'batches', { owner: `${kind}:${party.id}` }, limit);
  await printList(context, batches, { ...batchTable, none: `${owner} has no batches.` });
}

async function cancelBatch(context: AdminContext, id: string): Promise<void> {
  const { value: batch } = await context.client.send<Batch>('POST', buildPath`/batches/${id}/cancel`);
  printDone(context, batch, `Batch ${batch.id} of ${batch.owner.name} is being cancelled, or was over already.`);
}

function printBatch(context: AdminContext, batch: Batch): void {
  const { id, owner, endpoint, model, state, createdAt, expiresAt, total, succeeded, errored, cost } = batch;
  printFacts(context, batch, {
    id,
    owner: `${owner.kind} ${owner.name}`,
    state,
    endpoint,
    model,
    created: formatMinute(createdAt),
    expires: formatMinute(expiresAt),
    done: `${succeeded + errored} of ${total}, ${errored} with an error`,
    dollars: cost,
  });
}
