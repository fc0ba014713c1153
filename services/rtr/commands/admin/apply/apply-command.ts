import { Command } from 'commander';
import { withAdminOptions, type AdminContext, type AdminOptions, type RunAdminCommand } from '../admin-context.ts';
import { readText } from '../read-text.ts';
import { withInterrupt } from '../../with-interrupt.ts';
import type { Change, ChangeContext, Plan, PresentAccess } from './change.ts';
import { requirePermitted, findMissingRight } from './require-rights.ts';
import { KeysFile } from './keys-file.ts';
import { applyChanges } from './apply-changes.ts';
import { planAccess, readPresent } from './plan-access.ts';
import { toChangeLines, toChangeObject, printSummary } from './print-changes.ts';
import { mergeAccess } from './merge-access.ts';
import { readAccess, type AccessFile } from './read-access.ts';

/** Exit code of a dry run that finds something to change. */
const wouldChangeCode = 2;

interface ApplyOptions extends AdminOptions {
  file: string[];
  dryRun?: true;
  prune?: true;
  keysOut?: string;
}

/** `rtr apply -f access.yaml`: changes teams, people, keys, limits and prices to match a file. */
export function applyCommand(run: RunAdminCommand): Command {
  return withAdminOptions(
    new Command('apply').description('make teams, people, keys, limits, prices and settings what a file says'),
  )
    .requiredOption('-f, --file <file>', 'a file (YAML); - for the standard input; repeatable', appendPath)
    .option('--dry-run', 'change nothing, print what would change, and exit with 2 if something would')
    .option(
      '--prune',
      'also remove members from teams whose members the file lists, and reset prices if it lists prices, unless it lists them',
    )
    .option('--keys-out <file>', 'write the secrets of new keys into this new file, instead of printing them')
    .action((options: ApplyOptions) => run(options, (context) => apply(context, options)));
}

async function apply(context: AdminContext, { file: paths, dryRun, prune, keysOut }: ApplyOptions): Promise<void> {
  const { client, print, json, endWith } = context;
  const files: AccessFile[] = [];
  for (const path of paths) files.push(readAccess(path, await readText(context, path)));
  const file = mergeAccess(files);
  const present = await readPresent(client, file.access);
  const plan = planAccess(file, present, prune === true);
  if (!json) for (const change of plan.changes) for (const line of toChangeLines(change)) print(line);
  const reason = await findMissingRight(client, plan.changes);
  if (dryRun) {
    if (json) for (const change of plan.changes) print(JSON.stringify(toChangeObject(change)));
    if (plan.changes.length > 0) endWith(wouldChangeCode);
    if (reason !== undefined) print(json ? JSON.stringify({ notPermitted: reason }) : reason);
  } else {
    requirePermitted(reason);
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
  maker: ChangeContext,
  keysOut: string | undefined,
): Promise<void> {
  const hasKeys = changes.some(({ newKey }) => newKey !== undefined);
  const keysFile = keysOut !== undefined && hasKeys ? await KeysFile.create(keysOut) : undefined;
  try {
    const onMade = async (change: Change, key: string | undefined): Promise<void> => {
      const { newKey, what } = change;
      const isKept = newKey && key !== undefined && (await keysFile?.add({ ...newKey, key }));
      // A secret that is neither written nor shown would be lost.
      const shown = isKept ? undefined : key;
      if (json) print(JSON.stringify(toChangeObject(change, shown)));
      else if (shown !== undefined) print(`${what}, shown only this once: ${shown}`);
    };
    await withInterrupt((isInterrupted) => applyChanges(changes, maker, isInterrupted, onMade));
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
