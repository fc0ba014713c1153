import type { Environment } from '#shared/core/load-config.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { SupervisedChild } from '../children/supervised-child.ts';

/** A cloud provider for which the environment has a key. */
export interface CloudProvider {
  /** What `PROVIDER` is set to for its worker. */
  name: string;
  title: string;
  /** The variable that holds the key. */
  keyVariable: string;
  /** Variables that must be set too; while there are any, it has no worker. */
  missing: readonly string[];
}

/** A command-line agent on this machine. */
export interface CommandLineAgent {
  /** What `CLI_KIND` is set to for its worker. */
  kind: string;
  /** Path of its program. */
  program: string;
  signedIn: boolean;
  /** What to do when nobody is signed in. */
  hint: string;
  /** Models that it is known to take; none where they depend on the account. */
  models: readonly string[];
}

/** What was found on this machine, and what its owner wrote. */
export interface Findings {
  providers: readonly CloudProvider[];
  clis: readonly CommandLineAgent[];
  registry: Registry;
}

/** A worker that `rtr up` starts once, besides those of engines. */
export interface PlannedWorker {
  tier: 'cli' | 'cloud' | 'tools';
  name: string;
  /** Folder of its service. */
  service: 'cli-worker' | 'cloud-worker' | 'tools-worker';
  settings: Environment;
  /** What it is for, for a person. */
  told: string;
}

/** What was found and cannot be used yet, and what it wants. */
export interface Unready {
  tier: PlannedWorker['tier'];
  told: string;
}

export interface Plan {
  ready: PlannedWorker[];
  unready: Unready[];
}

/** Settings of one cloud worker that must not reach all of them: an address for one would get the keys of the others. */
const notForAll: Environment = {
  PROVIDER_URL: undefined,
  PROVIDER_KEY: undefined,
  PROVIDER_KEY_HEADER: undefined,
  PROVIDER_FORMAT: undefined,
  PROVIDER_MODELS: undefined,
};

/** Decides which workers a cluster on this machine has, besides those of engines. */
export function planWorkers(findings: Findings): Plan {
  const plan: Plan = { ready: [], unready: [] };
  planCloud(findings, plan);
  planClis(findings, plan);
  planTools(findings, plan);
  return plan;
}

function planCloud({ providers, registry }: Findings, { ready, unready }: Plan): void {
  const add = (name: string, told: string): void => {
    const settings = { ...notForAll, PROVIDER: name, ...registry.providers[name] };
    ready.push({ tier: 'cloud', name, service: 'cloud-worker', settings, told });
  };
  for (const { name, title, keyVariable, missing } of providers) {
    if (missing.length === 0) add(name, `${title} (by ${keyVariable})`);
    else unready.push({ tier: 'cloud', told: `${title} not yet: ${keyVariable} is set, ${missing.join(' and ')} not` });
  }
  for (const name of Object.keys(registry.providers)) {
    if (!providers.some((provider) => provider.name === name)) add(name, `${name} (by ROUTER_CONFIG)`);
  }
}

function planClis({ clis, registry }: Findings, { ready, unready }: Plan): void {
  const add = (name: string, settings: Environment, told: string): void => {
    ready.push({ tier: 'cli', name, service: 'cli-worker', settings, told });
  };
  for (const { kind, program, signedIn, hint, models } of clis) {
    const written = registry.clis[kind];
    if (written === false) continue;
    const settings = { CLI_KIND: kind, CLI_COMMAND: program, CLI_MODELS: models.join(','), ...written };
    if (!signedIn) unready.push({ tier: 'cli', told: `${kind} not yet: ${hint}` });
    else if (settings.CLI_MODELS === '') {
      unready.push({
        tier: 'cli',
        told: `${kind} not yet: name its models, as clis.${kind}.CLI_MODELS in ROUTER_CONFIG`,
      });
    } else add(kind, settings, `${kind} (${program})`);
  }
  for (const [name, written] of Object.entries(registry.clis)) {
    if (written === false || clis.some(({ kind }) => kind === name)) continue;
    add(name, { CLI_KIND: name, ...written }, `${name} (by ROUTER_CONFIG)`);
  }
}

/** The tools worker reads the registry file by itself. */
function planTools({ registry }: Findings, { ready }: Plan): void {
  const servers = Object.keys(registry.mcpServers);
  const told = ['those that come with the router', ...servers.map((name) => `MCP server ${name}`)].join(', ');
  ready.push({ tier: 'tools', name: 'tools', service: 'tools-worker', settings: {}, told });
}

const patienceMs = 8_000;

/** The workers of a plan, running. */
export class PlannedWorkers {
  readonly #start: (worker: PlannedWorker) => Promise<SupervisedChild>;
  readonly #children: SupervisedChild[] = [];

  constructor(start: (worker: PlannedWorker) => Promise<SupervisedChild>) {
    this.#start = start;
  }

  async begin(workers: readonly PlannedWorker[]): Promise<void> {
    for (const worker of workers) this.#children.push(await this.#start(worker));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.stop(patienceMs)));
  }
}
