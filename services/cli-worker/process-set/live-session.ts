import type { Logger } from '#shared/core/log.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { StartOptions } from '../clis/cli.ts';
import type { CliProcess } from '../process/cli-process.ts';
import { type ProcessStarter, createWorkspace, type Workspace } from '../process/process-starter.ts';
import { endStragglers } from '../process/end-stragglers.ts';

export interface SessionSettings<Session> {
  cli: { start(options: StartOptions): Promise<Session> };
  starter: ProcessStarter;
  models: readonly [string, ...string[]];
  /** Folder of all workspaces. */
  root: string;
  /** Maximum milliseconds until a process becomes ready. */
  startMs: number;
  log: Logger;
}

export interface LiveSession<Session> {
  session: Session;
  /** Ends the process and removes its folders. Takes at most a few seconds, and never rejects. */
  close(): Promise<void>;
}

/**
 * Creates a workspace and starts a CLI in it.
 * @throws RouterError `upstream_timeout` if the CLI is not ready in time
 * @throws the errors of the CLI's `start`
 */
export async function startSession<Session extends { process: CliProcess }>(
  settings: SessionSettings<Session>,
  signal: AbortSignal,
): Promise<LiveSession<Session>> {
  const { cli, starter, models, root, startMs, log } = settings;
  const workspace = await createWorkspace(root);
  const startTimeout = AbortSignal.timeout(startMs);
  try {
    const session = await cli.start({ starter, workspace, models, signal: AbortSignal.any([signal, startTimeout]) });
    return { session, close: () => closeSession(session, workspace, log) };
  } catch (error) {
    await endStragglers(workspace.home);
    await removeWorkspace(workspace, log);
    if (startTimeout.aborted) throw new RouterError('upstream_timeout', `The CLI was not ready within ${startMs} ms.`);
    throw error;
  }
}

async function closeSession({ process }: { process: CliProcess }, workspace: Workspace, log: Logger): Promise<void> {
  await process.end();
  await endStragglers(workspace.home);
  await removeWorkspace(workspace, log);
}

async function removeWorkspace(workspace: Workspace, log: Logger): Promise<void> {
  await workspace.remove().catch((error: unknown) => log.warn({ err: error }, 'a folder could not be removed'));
}
