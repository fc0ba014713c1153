import type { Environment } from '#shared/core/load-config.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { SupervisedChild } from '../children/supervised-child.ts';

/** A cloud provider with a key in the environment. */
export interface CloudProvider {
  /** Value of `PROVIDER` for the provider's worker. */
  name: string;
  title: string;
  keyVariable: string;
  /** Names of required variables that are not set. A provider with missing variables gets no worker. */
  missing: readonly string[];
}

export interface CommandLineAgent {
  /** Value of `CLI_KIND` for the agent's worker. */
  kind: string;
  /** Path of its program. */
  program: string;
  signedIn: boolean;
  /** Instruction for signing in. */
  hint: string;
  /** Models that the agent accepts; empty if they depend on the account. */
  models: readonly string[];
}

export interface Findings {
  providers: readonly CloudProvider[];
  clis: readonly CommandLineAgent[];
  registry: Registry;
}

/** A worker that `rtr up` starts once, in addition to the workers for engines. */
export interface PlannedWorker {
  tier: 'cli' | 'cloud' | 'tools';
  name: string;
  service: 'cli-worker' | 'cloud-worker' | 'tools-worker';
  settings: Environment;
  /** Description of what the worker serves, for a person. */
  detail: string;
}

/** A provider or agent that was found but cannot be used yet. */
export interface UnreadyWorker {
  tier: PlannedWorker['tier'];
  detail: string;
}

export interface Plan {
  ready: PlannedWorker[];
  unready: UnreadyWorker[];
}

/** Settings that `rtr up` does not pass to cloud workers. Otherwise the keys of all providers would be sent to one provider's address. */
const unsharedSettings: Environment = {
  PROVIDER_URL: undefined,
  PROVIDER_KEY: undefined,
  PROVIDER_KEY_HEADER: undefined,
  PROVIDER_FORMAT: undefined,
  PROVIDER_MODELS: undefined,
};

/** Decides which workers a cluster on this machine has, in addition to the workers for engines. */
export function planWorkers(findings: Findings): Plan {
  const plan: Plan = { ready: [], unready: [] };
  planCloud(findings, plan);
  planClis(findings, plan);
  planTools(findings, plan);
  return plan;
}

function planCloud({ providers, registry }: Findings, { ready, unready }: Plan): void {
  const add = (name: string, detail: string): void => {
    const settings = { ...unsharedSettings, PROVIDER: name, ...registry.providers[name] };
    ready.push({ tier: 'cloud', name, service: 'cloud-worker', settings, detail });
  };
  for (const { name, title, keyVariable, missing } of providers) {
    if (missing.length === 0) add(name, `${title} (by ${keyVariable})`);
    else
      unready.push({ tier: 'cloud', detail: `${title} not yet: ${keyVariable} is set, ${missing.join(' and ')} not` });
  }
  for (const name of Object.keys(registry.providers)) {
    if (!providers.some((provider) => provider.name === name)) add(name, `${name} (by ROUTER_CONFIG)`);
  }
}

function planClis({ clis, registry }: Findings, { ready, unready }: Plan): void {
  const add = (name: string, settings: Environment, detail: string): void => {
    ready.push({ tier: 'cli', name, service: 'cli-worker', settings, detail });
  };
  for (const { kind, program, signedIn, hint, models } of clis) {
    const registrySettings = registry.clis[kind];
    if (registrySettings === false) continue;
    const settings = { CLI_KIND: kind, CLI_COMMAND: program, CLI_MODELS: models.join(','), ...registrySettings };
    if (!signedIn) unready.push({ tier: 'cli', detail: `${kind} not yet: ${hint}` });
    else if (settings.CLI_MODELS === '') {
      unready.push({
        tier: 'cli',
        detail: `${kind} not yet: name its models, as clis.${kind}.CLI_MODELS in ROUTER_CONFIG`,
      });
    } else add(kind, settings, `${kind} (${program})`);
  }
  for (const [name, registrySettings] of Object.entries(registry.clis)) {
    if (registrySettings === false || clis.some(({ kind }) => kind === name)) continue;
    add(name, { CLI_KIND: name, ...registrySettings }, `${name} (by ROUTER_CONFIG)`);
  }
}

/** Plans the tools worker, which reads the registry file itself. */
function planTools({ registry }: Findings, { ready }: Plan): void {
  const servers = Object.keys(registry.mcpServers);
  const detail = ['the built-in tools', ...servers.map((name) => `MCP server ${name}`)].join(', ');
  ready.push({ tier: 'tools', name: 'tools', service: 'tools-worker', settings: {}, detail });
}

const stopTimeoutMs = 8_000;

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
    await Promise.all(this.#children.map((child) => child.stop(stopTimeoutMs)));
  }
}
