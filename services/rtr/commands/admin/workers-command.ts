import { Command } from 'commander';
import { at } from './admin-client.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { printDone, printList } from './print-answers.ts';

interface Worker {
  id: string;
  tier: string;
  pool: string;
  models: string[];
  tools: string[];
  slots: number;
  busy: number;
  state: string;
  version: string;
}

interface Model {
  id: string;
  kind: string;
  operations: string[];
  contextWindow?: number;
  servedBy: { tier: string; workers: number; models: string[] }[];
}

/** `rtr workers …`: the workers that are connected. */
export function workersCommand(run: RunAdminCommand): Command {
  const command = new Command('workers').description('see the workers that are connected, drain and undrain them');
  addCommand(command, 'list', 'list the workers that are connected').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Worker>('/workers'), {
        head: ['ID', 'TIER', 'POOL', 'STATE', 'BUSY', 'VERSION', 'SERVES'],
        row: ({ id, tier, pool, state, busy, slots, version, models, tools }) => {
          return [id, tier, pool, state, `${busy} of ${slots}`, version, [...models, ...tools].join(', ')];
        },
        none: 'No worker is connected.',
      }),
    ),
  );
  for (const [name, does, outcome] of [
    ['drain', 'have a worker finish its jobs and take no new ones', 'finishes its jobs and takes no new ones'],
    ['undrain', 'have a worker that was drained take jobs again', 'takes jobs again'],
  ] as const) {
    addCommand(command, name, does)
      .argument('<worker>', 'id of the worker')
      .action((id: string, options: AdminOptions) =>
        run(options, async (context) => {
          const { value } = await context.client.send<Worker>('POST', `${at`/workers/${id}`}/${name}`);
          printDone(
            context,
            value,
            `${id} ${outcome}: it is ${value.state}, with ${value.busy} of ${value.slots} busy.`,
          );
        }),
      );
  }
  return command;
}

/** `rtr models …`: what clients can ask for. */
export function modelsCommand(run: RunAdminCommand): Command {
  const command = new Command('models').description('see what clients can ask for');
  addCommand(
    command,
    'list',
    'list what clients can ask for: auto, names of the registry, and models of workers',
  ).action((options: AdminOptions) =>
    run(options, async (context) =>
      printList(context, await context.client.get<Model[]>('/models'), {
        head: ['NAME', 'KIND', 'CONTEXT', 'SERVED BY', 'OPERATIONS'],
        row: ({ id, kind, contextWindow = '-', servedBy, operations }) => {
          const by = servedBy.map(({ tier, workers }) => `${tier} (${workers})`).join(', ') || 'nobody';
          return [id, kind, contextWindow, by, operations.join(', ')];
        },
        none: 'There is nothing to ask for.',
      }),
    ),
  );
  return command;
}
