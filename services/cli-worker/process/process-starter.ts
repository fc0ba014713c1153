import type { Environment } from '#shared/core/load-config.ts';
import { CliProcess } from './cli-process.ts';
import type { ProcessGuard } from './process-guard.ts';
import type { Workspace } from './workspace.ts';

export interface StarterOptions {
  command: string;
  guard: ProcessGuard;
  /** The worker's own environment. A CLI gets only the variables that are named. */
  environment: Environment;
  /** Names of further variables, from the operator's setting. */
  further: readonly string[];
}

export interface ProcessSettings {
  args: readonly string[];
  workspace: Workspace;
  /** Names of variables of the worker's environment that this kind of CLI needs: its keys and addresses. */
  allowed: readonly string[];
  /** Variables with their values, which take precedence. */
  variables: Record<string, string>;
}

/** Variables that every program gets. */
const always = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TZ'];

export class ProcessStarter {
  readonly #options: StarterOptions;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** Returns a variable of the worker's environment; undefined when it is unset or empty. */
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
