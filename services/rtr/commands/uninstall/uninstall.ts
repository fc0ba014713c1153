import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { lockHolder } from '#shared/core/take-lock.mjs';
import { findOwnCommand } from '../../client/lib/own-command.mjs';
import { UpError } from '../../up/up-error.ts';
import { findClientParts, removeConfigFolder } from './find-client-parts.ts';
import { findDataFolder } from './find-data-folder.ts';

export interface UninstallOptions {
  /** The data folder of the cluster on this machine. It may be missing. */
  folder: string;
  /** Whether the data folder stays. */
  keepsData: boolean;
  /** Whether to remove everything without a question. */
  isConfirmed: boolean;
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream;
  print: (line: string) => void;
}

/** The word that the user types to confirm. */
const confirmation = 'uninstall';

/**
 * `rtr uninstall`: lists what this program has stored for the user on this machine, and removes it after a confirmation. Removes settings
 * and sign-ins before data, so that what remains after a failure can still be used.
 * @throws UpError if a cluster runs, if the machine is a box of a router, or if the user does not confirm
 */
export async function uninstall(options: UninstallOptions): Promise<void> {
  const { folder, keepsData, print } = options;
  requireUnused(folder);
  const data = keepsData ? undefined : findDataFolder(folder);
  const parts = [...findClientParts(), ...(data ? [data] : [])];
  if (parts.length === 0) {
    print('There is nothing to remove.');
  } else {
    print(`This will be removed:\n${parts.map(({ description }) => `  ${description}`).join('\n')}`);
    if (!options.isConfirmed) await confirm(options);
    requireUnused(folder);
    for (const { remove } of parts) await remove();
    print(keepsData && existsSync(folder) ? `Done. ${folder} is kept.` : 'Done.');
  }
  removeConfigFolder();
  print('The program itself stays: remove it as you have installed it.');
}

function requireUnused(folder: string): void {
  const holder = lockHolder(join(folder, 'up.lock'));
  if (holder !== undefined) {
    throw new UpError(
      `The cluster in ${folder} runs (process ${holder}). Stop it first, with Ctrl-C where it was started.`,
    );
  }
  if (existsSync(join(folder, 'box'))) {
    throw new UpError(`This machine has joined a router. Leave it first: ${findOwnCommand()} leave`);
  }
}

async function confirm({ input, output }: UninstallOptions): Promise<void> {
  if (!input.isTTY) throw new UpError('Nothing is removed: add --yes, or run this in a terminal to confirm.');
  const terminal = createInterface({ input, output });
  const answer = await terminal
    .question(`This cannot be undone. Type ${confirmation} to confirm: `)
    .finally(() => terminal.close());
  if (answer.trim() !== confirmation) throw new UpError('Nothing is removed.');
}
