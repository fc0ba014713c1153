import { Command } from 'commander';
import { toTableLines } from '../table-lines.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { formatMinute, printDone, printList } from './print-answers.ts';

interface Background {
  queues: { name: string; waiting: number; active: number; delayed: number }[];
  failing: { queue: string; id: string; failures: number; lastAt?: number; reason: string }[];
}

interface Backlog {
  webhook: { id: string; url: string; owner?: { name: string } };
  pending: number;
  dead: number;
}

export function createBackgroundCommand(run: RunAdminCommand): Command {
  const command = new Command('background').description('see background work, and try failed jobs again');
  addCommand(command, 'show', 'show the queues, and the failed jobs that will be tried again').action(
    (options: AdminOptions) => run(options, showBackground),
  );
  addCommand(command, 'repeat', 'try a failed job again now')
    .argument('<queue>', 'name of the queue')
    .argument('<job>', 'id of the job')
    .action((queue: string, id: string, options: AdminOptions) =>
      run(options, async (context) => {
        const body = { queue, id };
        const { value } = await context.client.send<{ repeated: boolean }>('POST', '/background/repeat', { body });
        const sentence = value.repeated ? `The job ${id} is tried now.` : `The job ${id} does not wait any more.`;
        printDone(context, { queue, id, ...value }, sentence);
      }),
    );
  addCommand(command, 'webhooks', 'list the webhooks with events that are on their way or were given up').action(
    (options: AdminOptions) =>
      run(options, async (context) =>
        printList(context, await context.client.get<Backlog[]>('/background/webhooks'), {
          head: ['WEBHOOK', 'PENDING', 'GIVEN UP', 'OWNER', 'URL'],
          row: ({ webhook, pending, dead }) => [
            webhook.id,
            pending,
            dead,
            webhook.owner?.name ?? 'router',
            webhook.url,
          ],
          none: 'No events are on their way, and none were given up.',
        }),
      ),
  );
  return command;
}

async function showBackground({ client, print, json }: AdminContext): Promise<void> {
  const background = await client.get<Background>('/background');
  if (json) return print(JSON.stringify(background));
  const { queues, failing } = background;
  const counts = queues.map(({ name, waiting, active, delayed }) => [name, ...[waiting, active, delayed].map(String)]);
  for (const line of toTableLines([['QUEUE', 'WAITING', 'ACTIVE', 'DELAYED'], ...counts])) print(line);
  if (failing.length === 0) return print('No job fails.');
  const rows = failing.map(({ queue, id, failures, lastAt, reason }) => {
    return [queue, id, String(failures), formatMinute(lastAt), reason];
  });
  for (const line of toTableLines([['QUEUE', 'JOB', 'FAILURES', 'LAST (UTC)', 'REASON'], ...rows])) print(line);
}
