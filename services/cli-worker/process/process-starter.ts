import type { Environment } from '#shared/core/load-config.ts';
import { CliProcess } from './cli-process.ts';
import type { ProcessGuard } from './process-guard.ts';
import type { Workspace } from './workspace.ts';

export interface StarterOptions {
  command: string;
  guard: ProcessGuard;
  /** The worker's own environment, of which a CLI gets what is named. */
  environment: Environment;
  /** Names of further variables that the operator lets through. */
  further: readonly string[];
}

/** What a kind of CLI needs of its process. */
export interface ProcessSettings {
  args: readonly string[];
  workspace: Workspace;
  /** Variables of the worker's environment that this kind of CLI may see: its keys and addresses. */
  allowed: readonly string[];
  /** Variables that are set for it. */
  set: Record<string, string>;
}

/** What every program gets: where programs are, and how the terminal that it has not got writes. */
const always = ['PATH', 'LANG', 'LC_ALL', 'TERM', 'TZ'];

/** Starts the processes of one worker's CLI, each with an environment that holds what is named and nothing else. */
export class ProcessStarter {
  readonly #options: StarterOptions;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** A variable of the worker's environment; undefined when it is unset or empty. */
  readonly variable = (name: string): string | undefined => this.#options.environment[name] || undefined;

  start({ args, workspace, allowed, set }: ProcessSettings): CliProcess {
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
