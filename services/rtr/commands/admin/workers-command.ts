import { Command } from 'commander';
import { buildPath } from './admin-client.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { formatMinute, printDone, printList } from './print-answers.ts';

interface Worker {
  id: string;
  tier: string;
  pool: string;
  models: string[];
  tools: string[];
  slots: number;
  busy: number;
  state: string;
  safeToStop?: true;
  lastFor?: string[];
  version: string;
}

interface GoneWorker {
  id: string;
  tier: string;
  host?: string;
  goneAt: number;
  why: 'drained' | 'left' | 'restarted' | 'lost';
  jobs: number;
  state: string;
  reason?: string;
  isBack?: true;
  serves: string[];
  servedNames: number;
}

interface Model {
  id: string;
  kind: string;
  operations: string[];
  contextWindow?: number;
  servedBy: {
    tier: string;
    workers: number;
    models: string[];
    price?: { input: number; output: number };
    unpriced?: string[];
    speed?: { firstTokenMs: number; tokensPerSecond: number };
  }[];
}

export function createWorkersCommand(run: RunAdminCommand): Command {
  const command = new Command('workers').description('see the workers that are connected, drain and undrain them');
  addCommand(command, 'list', 'list the workers that are connected').action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Worker>('/workers'), {
        head: ['ID', 'TIER', 'POOL', 'STATE', 'BUSY', 'VERSION', 'SERVES'],
        row: ({ id, tier, pool, state, safeToStop, busy, slots, version, models, tools }) => {
          const displayedState = safeToStop ? 'drained' : state;
          return [id, tier, pool, displayedState, `${busy} of ${slots}`, version, [...models, ...tools].join(', ')];
        },
        none: 'No worker is connected.',
      }),
    ),
  );
  addCommand(command, 'gone', 'list the workers that have left or were lost within a day, newest first').action(
    (options: AdminOptions) =>
      run(options, async (context) =>
        printList(context, await context.client.get<GoneWorker[]>('/workers/gone'), {
          head: ['ID', 'TIER', 'HOST', 'GONE AT (UTC)', 'WHY', 'JOBS', 'SERVED'],
          row: ({ id, tier, host = '-', goneAt, why, jobs, isBack, serves, servedNames }) => {
            const hiddenCount = servedNames - serves.length;
            const models = serves.join(', ') + (hiddenCount > 0 ? ` and ${hiddenCount} more` : '');
            return [id, tier, host, formatMinute(goneAt), isBack ? `${why}, back` : why, jobs, models];
          },
          none: 'No worker has gone.',
        }),
      ),
  );
  for (const [name, description, outcome] of [
    ['drain', 'let a worker finish its jobs and take no new jobs', 'finishes its jobs and takes no new ones'],
    ['undrain', 'let a drained worker take jobs again', 'takes jobs again'],
  ] as const) {
    addCommand(command, name, description)
      .argument('<worker>', 'id of the worker')
      .action((id: string, options: AdminOptions) =>
        run(options, async (context) => {
          const { value } = await context.client.send<Worker>('POST', `${buildPath`/workers/${id}`}/${name}`);
          const { state, busy, slots, safeToStop, lastFor } = value;
          const stateText = safeToStop
            ? 'it has no job left and can be stopped'
            : `it is ${state}, with ${busy} of ${slots} busy`;
          printDone(context, value, `${id} ${outcome}: ${stateText}.`);
          if (name === 'drain' && lastFor && !context.json) {
            context.print(
              `Warning: no other worker takes requests for ${lastFor.join(', ')}. They wait, and fail in the end.`,
            );
          }
        }),
      );
  }
  return command;
}

/** Creates `rtr models …`, which shows the model names that clients can request. */
export function createModelsCommand(run: RunAdminCommand): Command {
  const command = new Command('models').description('see the model names that clients can request');
  addCommand(
    command,
    'list',
    'list the model names that clients can request: auto, names of the registry, and models of workers',
  ).action((options: AdminOptions) =>
    run(options, async (context) =>
      printList(context, await context.client.get<Model[]>('/models'), {
        head: ['NAME', 'KIND', 'CONTEXT', 'SERVED BY', 'DOLLARS', 'SPEED', 'OPERATIONS'],
        row: ({ id, kind, contextWindow = '-', servedBy, operations }) => {
          const by = servedBy.map(({ tier, workers }) => `${tier} (${workers})`).join(', ') || 'nobody';
          const cost = servedBy.flatMap(formatPrices).join(', ') || '-';
          const speed = servedBy.flatMap(formatSpeeds).join(', ') || '-';
          return [id, kind, contextWindow, by, cost, speed, operations.join(', ')];
        },
        none: 'There are no models.',
      }),
    ),
  );
  return command;
}

/** Returns a list with the price of a model on one tier, in dollars per million tokens; empty if the router reports nothing about it. */
function formatPrices({ price, unpriced = [] }: Model['servedBy'][number]): string[] {
  if (price) return [`input=${price.input} output=${price.output}`];
  return unpriced.length > 0 ? ['unpriced'] : [];
}

function formatSpeeds({ speed }: Model['servedBy'][number]): string[] {
  return speed ? [`${speed.tokensPerSecond} tokens/s after ${speed.firstTokenMs} ms`] : [];
}
