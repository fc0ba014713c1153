import { Command } from 'commander';
import { withAdminOptions, type AdminContext, type AdminOptions, type RunAdminCommand } from '../admin-context.ts';
import { readText } from '../read-text.ts';
import type { Change, ChangeContext, Plan, PresentAccess } from './change.ts';
import { requirePermitted, findMissingRight } from './require-rights.ts';
import { KeysFile } from './keys-file.ts';
import { applyChanges } from './apply-changes.ts';
import { planAccess, readPresent } from './plan-access.ts';
import { toChangeLines, toChangeObject, printSummary } from './print-changes.ts';
import { mergeAccess } from './merge-access.ts';
import { readAccess, type AccessFile } from './read-access.ts';

/** Exit code of a dry run if something would change. */
const wouldChangeCode = 2;

interface ApplyOptions extends AdminOptions {
  file: string[];
  dryRun?: true;
  prune?: true;
  keysOut?: string;
}

/** Creates `rtr apply -f access.yaml`, which changes teams, people, keys, limits, prices and settings to match a file. */
export function createApplyCommand(run: RunAdminCommand): Command {
  return withAdminOptions(
    new Command('apply').description('change teams, people, keys, limits, prices and settings to match a file'),
  )
    .requiredOption('-f, --file <file>', 'a file (YAML); - for the standard input; repeatable', appendPath)
    .option('--dry-run', 'change nothing, print what would change, and exit with 2 if something would')
    .option(
      '--prune',
      'also remove what the file does not list: members of a team if it lists members of that team, and prices if it lists any',
    )
    .option('--keys-out <file>', 'write the secrets of new keys into this new file, instead of printing them')
    .action((options: ApplyOptions) => run(options, (context) => apply(context, options)));
}

async function apply(context: AdminContext, { file: paths, dryRun, prune, keysOut }: ApplyOptions): Promise<void> {
  const { client, print, json, setExitCode } = context;
  const files: AccessFile[] = [];
  for (const path of paths) files.push(readAccess(path, await readText(context, path)));
  const file = mergeAccess(files);
  const present = await readPresent(client, file.access);
  const plan = planAccess(file, present, prune === true);
  if (!json) for (const change of plan.changes) for (const line of toChangeLines(change)) print(line);
  const refusal = await findMissingRight(client, plan.changes);
  if (dryRun) {
    if (json) for (const change of plan.changes) print(JSON.stringify(toChangeObject(change)));
    if (plan.changes.length > 0) setExitCode(wouldChangeCode);
    if (refusal !== undefined) print(json ? JSON.stringify({ notPermitted: refusal }) : refusal);
  } else {
    requirePermitted(refusal);
    await makeChanges(context, plan, createChangeContext(context, present), keysOut);
  }
  printSummary(context, plan, dryRun === undefined);
}

function appendPath(path: string, before: readonly string[] = []): string[] {
  return [...before, path];
}

async function makeChanges(
  { print, json }: AdminContext,
  { changes }: Plan,
  changeContext: ChangeContext,
  keysOut: string | undefined,
): Promise<void> {
  const hasKeys = changes.some(({ newKey }) => newKey !== undefined);
  const keysFile = keysOut !== undefined && hasKeys ? await KeysFile.create(keysOut) : undefined;
  try {
    const onMade = async (change: Change, secret: string | undefined): Promise<void> => {
      const { newKey, what } = change;
      const isWritten = newKey && secret !== undefined && (await keysFile?.add({ ...newKey, key: secret }));
      // A secret that is neither written nor shown would be lost.
      const secretToPrint = isWritten ? undefined : secret;
      if (json) print(JSON.stringify(toChangeObject(change, secretToPrint)));
      else if (secretToPrint !== undefined) print(`${what}, shown only this once: ${secretToPrint}`);
    };
    await withInterrupt((isInterrupted) => applyChanges(changes, changeContext, isInterrupted, onMade));
  } finally {
    await keysFile?.close();
  }
}

function createChangeContext({ client }: AdminContext, { people, teams }: PresentAccess): ChangeContext {
  return {
    client,
    people: new Map(Array.from(people.values(), ({ email, id }) => [email, id])),
    teams: new Map(Array.from(teams, ([name, found]) => [name, found[0]?.id ?? ''])),
  };
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs work that consists of steps. SIGINT and SIGTERM do not end the process during a step.
 * @param work called with a function that returns whether a signal has arrived. It must call this function between two steps
 */
export async function withInterrupt<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T> {
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
  };
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await work(() => isInterrupted);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
