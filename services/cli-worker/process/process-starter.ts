import type { Environment } from '#shared/core/load-config.ts';
import { CliProcess } from './cli-process.ts';
import type { ProcessGuard } from './process-guard.ts';
import type { Workspace } from './workspace.ts';

export interface StarterOptions {
  command: string;
  guard: ProcessGuard;
  /** The worker's own environment. A CLI gets only those of its variables that are named below. */
  environment: Environment;
  /** Names of further variables that the CLI gets, from the operator's setting. */
  further: readonly string[];
}

export interface ProcessSettings {
  args: readonly string[];
  workspace: Workspace;
  /** Names of the variables that this kind of CLI gets from the worker's environment: its keys and addresses. */
  allowed: readonly string[];
  /** Further variables with their values. They override those of the worker's environment. */
  variables: Record<string, string>;
}

/** Names of variables that every program gets. */
const always = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TZ'];

export class ProcessStarter {
  readonly #options: StarterOptions;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** Returns a variable of the worker's environment; undefined if it is unset or empty. */
  readonly variable = (name: string): string | undefined => this.#options.environment[name] || undefined;

  start({ args, workspace, allowed, variables: set }: ProcessSettings): CliProcess {
    const { command, guard, further } = this.#options;
    const environment: Record<string, string> = {};
    for (const name of [...always, ...allowed, ...further]) {
      const value = this.variable(name);
      if (value !== undefined) environment[name] = value;
    }
    Object.assign(environment, { HOME: workspace.home, TMPDIR: workspace.tmp }, set);
    return new CliProcess({ command, args, cwd: workspace.cwd, environment, guard });
  }
}
