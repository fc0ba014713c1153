import type { Environment } from '#shared/core/load-config.ts';
import { CliProcess } from './cli-process.ts';
import type { ProcessGuard } from './process-guard.ts';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface ProcessSettings {
  args: readonly string[];
  workspace: Workspace;
  /** Names of the variables that this kind of CLI gets from the worker's environment: its keys and addresses. */
  allowedVariables: readonly string[];
  /** Further variables with their values. They override variables of the worker's environment. */
  variables: Record<string, string>;
}

/** Names of variables that every program gets. */
const commonVariables = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TZ'];

export class ProcessStarter {
  readonly #command: string;
  readonly #guard: ProcessGuard;
  readonly #environment: Environment;
  readonly #furtherVariables: readonly string[];

  /**
   * @param environment the worker's own environment. A CLI gets only the variables of `furtherVariables` and of `ProcessSettings`
   * @param furtherVariables names of further variables that the CLI gets, from the operator's setting
   */
  constructor(command: string, guard: ProcessGuard, environment: Environment, furtherVariables: readonly string[]) {
    this.#command = command;
    this.#guard = guard;
    this.#environment = environment;
    this.#furtherVariables = furtherVariables;
  }

  /** Returns a variable of the worker's environment; undefined if it is unset or empty. */
  readonly readVariable = (name: string): string | undefined => this.#environment[name] || undefined;

  start({ args, workspace, allowedVariables, variables: overrides }: ProcessSettings): CliProcess {
    const environment: Record<string, string> = {};
    for (const name of [...commonVariables, ...allowedVariables, ...this.#furtherVariables]) {
      const value = this.readVariable(name);
      if (value !== undefined) environment[name] = value;
    }
    Object.assign(environment, { HOME: workspace.home, TMPDIR: workspace.tmp }, overrides);
    return new CliProcess({
      command: this.#command,
      args,
      cwd: workspace.cwd,
      environment,
      guard: this.#guard,
    });
  }
}

/** Empty folders for one process, with nothing of the user or of another conversation. */
export interface Workspace {
  home: string;
  cwd: string;
  tmp: string;
  remove(): Promise<void>;
}

/** @param root folder of all workspaces of a worker */
export async function createWorkspace(root: string): Promise<Workspace> {
  const folder = await mkdtemp(join(root, 's-'));
  const [home, cwd, tmp] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'tmp')];
  await Promise.all([home, cwd, tmp].map((path) => mkdir(path, { mode: 0o700 })));
  return {
    home,
    cwd,
    tmp,
    // The removal is tried again, because a process that is ending may still write.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
