import { Argument, type Command } from 'commander';
import type { Role } from '#shared/broker/connection/credential.ts';
import { loadConfig } from '#shared/core/load-config.ts';
import { clusterSettings } from '../config.ts';
import { type ClusterAddress, findClusterAddresses } from '../up/cluster-addresses.ts';

/** Modules of `rtr worker <kind>`: one for each tier, and the batch runner. */
const workerModules = {
  gpu: () => import('../../gpu-worker/main.ts'),
  cli: () => import('../../cli-worker/main.ts'),
  cloud: () => import('../../cloud-worker/main.ts'),
  tools: () => import('../../tools-worker/main.ts'),
  batch: () => import('../../batch-runner/main.ts'),
};

/** Options that override environment variables of the same meaning. */
export interface BrokerOptions {
  nats?: string;
  credentials?: string;
}

/** Adds the commands that run one service in this process: `rtr worker`, `rtr ingress` and `rtr demo-engine`. */
export function addServiceCommands(program: Command, folder: string): void {
  /** Runs a service, connected to the cluster of the data folder unless the environment variables name another cluster. */
  async function runService(
    load: () => Promise<unknown>,
    role: Role,
    needed: readonly ClusterAddress[],
  ): Promise<void> {
    const addresses = findClusterAddresses(loadConfig(clusterSettings, process.env), folder, needed, role);
    for (const [name, value] of Object.entries(addresses)) {
      if (value !== undefined) process.env[name] = value;
      delete process.env[`${name}_FILE`];
    }
    await load();
  }

  program
    .command('worker')
    .description('run one worker, configured by environment variables')
    .addArgument(
      new Argument('<kind>', 'the tier that the worker serves, or `batch` for a batch runner').choices(
        Object.keys(workerModules),
      ),
    )
    .option('--nats <url>', 'address of the broker, instead of NATS_URL')
    .option('--credentials <file>', 'credential for the broker, instead of NATS_CREDENTIALS')
    .action((kind: keyof typeof workerModules, options: BrokerOptions) => {
      applyBrokerOptions(options);
      return kind === 'batch'
        ? runService(workerModules.batch, 'runner', ['NATS_URL', 'REDIS_URL'])
        : runService(workerModules[kind], kind, ['NATS_URL']);
    });
  program
    .command('ingress')
    .description('run one ingress, configured by environment variables')
    .action(() => runService(() => import('../../ingress/main.ts'), 'ingress', ['NATS_URL', 'REDIS_URL']));
  program
    .command('demo-engine')
    .description('run the demo engine, an OpenAI-compatible server without weights')
    .action(async () => {
      await import('../../demo-engine/main.ts');
    });
}

/** Writes the values of options into the environment variables that they override. */
export function applyBrokerOptions({ nats, credentials }: BrokerOptions): void {
  if (nats !== undefined) process.env['NATS_URL'] = nats;
  if (credentials !== undefined) process.env['NATS_CREDENTIALS'] = credentials;
}
