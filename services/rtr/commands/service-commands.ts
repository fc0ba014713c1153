import { Argument, type Command } from 'commander';
import type { Role } from '#shared/broker/connection/credential.ts';
import { loadConfig, type Environment } from '#shared/core/load-config.ts';
import { tiers } from '#shared/core/tier.ts';
import { clusterSettings } from '../config.ts';
import { type ClusterAddress, findClusterAddresses } from '../up/cluster-addresses.ts';

/** The kinds of `rtr worker <kind>`: one for each tier, and the batch runner. */
const workerKinds = [...tiers, 'batch'] as const;
type WorkerKind = (typeof workerKinds)[number];

export interface ServiceContext {
  /** The data folder. */
  folder: string;
  /** The variables of this process, which the services read. */
  environment: Environment;
  /** Load and run a service in this process. */
  run: Record<WorkerKind | 'ingress' | 'demo-engine', () => Promise<unknown>>;
}

/** Options that override environment variables of the same meaning. */
export interface BrokerOptions {
  nats?: string;
  credentials?: string;
}

/** Adds the commands that run one service in this process: `rtr worker`, `rtr ingress` and `rtr demo-engine`. */
export function addServiceCommands(program: Command, { folder, environment, run }: ServiceContext): void {
  /** Runs a service, connected to the cluster of the data folder unless the environment variables name another cluster. */
  async function runConnected(
    service: keyof ServiceContext['run'],
    role: Role,
    needed: readonly ClusterAddress[],
  ): Promise<void> {
    const addresses = findClusterAddresses(loadConfig(clusterSettings, environment), folder, needed, role);
    for (const [name, value] of Object.entries(addresses)) {
      if (value !== undefined) environment[name] = value;
      delete environment[`${name}_FILE`];
    }
    await run[service]();
  }

  program
    .command('worker')
    .description('run one worker, configured by environment variables')
    .addArgument(
      new Argument('<kind>', 'the tier that the worker serves, or `batch` for a batch runner').choices(workerKinds),
    )
    .option('--nats <url>', 'address of the broker, instead of NATS_URL')
    .option('--credentials <file>', 'credential for the broker, instead of NATS_CREDENTIALS')
    .action((kind: WorkerKind, options: BrokerOptions) => {
      applyBrokerOptions(environment, options);
      return kind === 'batch'
        ? runConnected('batch', 'runner', ['NATS_URL', 'REDIS_URL'])
        : runConnected(kind, kind, ['NATS_URL']);
    });
  program
    .command('ingress')
    .description('run one ingress, configured by environment variables')
    .action(() => runConnected('ingress', 'ingress', ['NATS_URL', 'REDIS_URL']));
  program
    .command('demo-engine')
    .description('run the demo engine, an OpenAI-compatible server without weights')
    .action(async () => {
      await run['demo-engine']();
    });
}

/** Writes the values of options into the environment variables that they override. */
export function applyBrokerOptions(environment: Environment, { nats, credentials }: BrokerOptions): void {
  if (nats !== undefined) environment['NATS_URL'] = nats;
  if (credentials !== undefined) environment['NATS_CREDENTIALS'] = credentials;
}
