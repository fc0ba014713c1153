import { join } from 'node:path';
import { maskKey } from '#shared/accounts/keys/key-record.ts';
import { lockHolder } from '#shared/core/take-lock.mjs';
import { version } from '#shared/core/version.ts';
import type { RunAdminCommand } from '../commands/admin/admin-context.ts';
import { toConsoleLink } from '../commands/admin-link.ts';
import type { KeyCommandContext } from '../commands/key-command.ts';
import { listUsableRouterKeys } from '../commands/setup.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { readParts } from '../up/children/running-children.ts';
import { findOwnRouter } from '../up/cluster-addresses.ts';
import { readWorkers } from '../up/read-health.ts';
import { formatStatus, type ClusterStatus, type StatusWorker } from './cluster-status.ts';
import { findProblems } from './find-problems.ts';

export interface StatusParts {
  /** Folder in which `rtr up` keeps the files of a cluster on this machine. */
  folder: string;
  json: boolean;
  /** Path segment of the chat format. */
  chatFormat: string;
  print: (text: string) => void;
  runOnAdminApi: RunAdminCommand;
  runOnKeyStore: (options: { json?: true }, command: (context: KeyCommandContext) => Promise<unknown>) => Promise<void>;
}

/** Exit code of a status command for a service that does not run (Linux Standard Base, 22.2), as of systemctl. */
const notRunningCode = 3;

/** `rtr status`: prints the addresses, parts, workers, models and problems of the cluster of a folder. Returns the exit code. */
export async function printStatus({
  folder,
  json,
  chatFormat,
  print,
  runOnAdminApi,
  runOnKeyStore,
}: StatusParts): Promise<number> {
  const pid = lockHolder(join(folder, 'up.lock'));
  if (pid === undefined) {
    const sentence = `Model Router is not running here (${folder}). Start it with \`${findOwnCommand()} up\`.`;
    print(json ? JSON.stringify({ running: false }) : sentence);
    return notRunningCode;
  }
  const { url: baseUrl, publicUrl: consoleUrl } = findOwnRouter({}, folder);
  const parts = readParts(folder);
  const counts = await readWorkers(baseUrl);
  const failures: string[] = [];
  const noteFailure = (error: unknown): void => {
    failures.push(error instanceof Error ? error.message : String(error));
  };
  const workers: StatusWorker[] = [];
  let models: string[] = [];
  if (counts !== undefined) {
    const readServed = runOnAdminApi({}, async ({ client }) => {
      for await (const worker of client.list<StatusWorker>('/workers')) workers.push(worker);
      models = (await client.get<{ id: string }[]>('/models')).map(({ id }) => id);
    });
    await readServed.catch(noteFailure);
  }
  let keys: string[] = [];
  let adminLink: string | undefined;
  const readKeys = runOnKeyStore({}, async ({ accounts }) => {
    keys = (await listUsableRouterKeys(accounts.keys)).map(maskKey);
    // A new link ends the one before, so a program that asks often gets none.
    const token = json ? undefined : await accounts.links.issueFirstAdmin();
    adminLink = token && toConsoleLink(consoleUrl, token);
  });
  await readKeys.catch(noteFailure);
  const problems = [...findProblems({ baseUrl, logFolder: join(folder, 'logs'), parts, counts, workers }), ...failures];
  const status: ClusterStatus = {
    version,
    pid,
    baseUrl,
    chatFormat,
    consoleUrl,
    ...(adminLink !== undefined && { adminLink }),
    keys,
    parts,
    workers: workers.map(({ id, tier, state, reason }) => ({
      id,
      tier,
      state,
      ...(reason !== undefined && { reason }),
    })),
    models,
    problems,
  };
  print(json ? JSON.stringify({ running: true, ...status }) : formatStatus(status, Date.now()));
  return 0;
}
