import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import type { Logger } from '#shared/core/log.ts';
import { findRefusedFeatures, findClientFormats } from '#shared/translate/translation.ts';
import type { AnswerTimeouts } from './answer/run-conversation.ts';
import type { Cli } from './clis/cli.ts';
import { createHandleJob } from './handle-job.ts';
import type { LoginState } from './login-state.ts';
import { startSession } from './process-set/live-session.ts';
import { ProcessSet, type ProcessCounts } from './process-set/process-set.ts';
import { type ProcessStarter, createWorkspace } from './process/process-starter.ts';

export interface ServeOptions {
  starter: ProcessStarter;
  models: readonly [string, ...string[]];
  /** Folder of all workspaces. */
  root: string;
  /** Maximum number of conversations at once. */
  slots: number;
  recycleAfter: number;
  recycleBytes: number;
  /** Maximum milliseconds until a process becomes ready. */
  startMs: number;
  timeouts: AnswerTimeouts;
  /** Records whether the upstream accepts the login. */
  login: Pick<LoginState, 'recordAccepted' | 'recordRefused'>;
  log: Logger;
  onHealth: (healthy: boolean) => void;
}

export interface ServedCli {
  formats: string[];
  capabilities: readonly Capability[];
  /** The features of client formats that the CLI refuses; see `findRefusedFeatures`. */
  lacks: readonly string[];
  handler: JobHandler;
  countProcesses: () => ProcessCounts;
  close(): Promise<void>;
}

/** Starts the processes of a CLI, probes its installed version, and creates the handler that serves jobs with the processes. */
export async function serveCli<Request, Piece>(cli: Cli<Request, Piece>, options: ServeOptions): Promise<ServedCli> {
  const { starter, models, root, slots, recycleAfter, recycleBytes, startMs, timeouts, login, log, onHealth } = options;
  const { dialogue, isSingleUse, traceName } = cli;
  const sessions = { cli, starter, models, root, startMs, log };
  const processes = new ProcessSet({
    start: (signal) => startSession(sessions, signal),
    size: slots,
    isSingleUse,
    recycleAfter,
    recycleBytes,
    log,
    onHealth,
  });
  const capabilities = [...cli.capabilities, ...(await probeVersion(cli, options))];
  const hasCapability = (capability: Capability): boolean => capabilities.includes(capability);
  const modelTraits = {
    takesImages: hasCapability('vision'),
    takesTools: hasCapability('tools'),
    takesSchemas: hasCapability('json'),
  };
  return {
    formats: findClientFormats(dialogue.translations, dialogue.upstream),
    capabilities,
    lacks: findRefusedFeatures(dialogue.translations, { model: 'any', ...modelTraits }),
    handler: createHandleJob({
      dialogue,
      leaseSession: (signal) => processes.lease(signal),
      models,
      modelTraits,
      traceName,
      timeouts,
      login,
      log,
    }),
    countProcesses: () => processes.counts,
    close: () => processes.close(),
  };
}

/** Finds the capabilities that the installed version has besides `capabilities`. Returns none if the probe fails. */
async function probeVersion<Request, Piece>(
  cli: Cli<Request, Piece>,
  { starter, models, root, startMs, log }: ServeOptions,
): Promise<Capability[]> {
  if (!cli.probe) return [];
  const workspace = await createWorkspace(root);
  try {
    const foundCapabilities = await cli.probe({ starter, workspace, models, signal: AbortSignal.timeout(startMs) });
    if (foundCapabilities.length === 0) log.warn('this version of the CLI takes no tools of clients; a newer one may');
    return foundCapabilities;
  } catch (error) {
    log.warn({ err: error }, 'the capabilities of this version of the CLI could not be probed: it takes no tools');
    return [];
  } finally {
    await workspace.remove().catch((error: unknown) => log.warn({ err: error }, 'a folder could not be removed'));
  }
}
