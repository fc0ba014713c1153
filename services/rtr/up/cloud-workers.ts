import type { Environment } from '#shared/core/load-config.ts';
import type { SupervisedChild } from './supervised-child.ts';

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

const workerPatienceMs = 8_000;

/** Settings of one cloud worker that must not reach all of them: an address for one would get the keys of the others. */
const notForAll: Environment = {
  PROVIDER_URL: undefined,
  PROVIDER_KEY: undefined,
  PROVIDER_KEY_HEADER: undefined,
  PROVIDER_FAMILY: undefined,
  PROVIDER_MODELS: undefined,
};

/** One cloud worker for each provider that can be asked. */
export class CloudWorkers {
  readonly #start: (provider: CloudProvider, settings: Environment) => Promise<SupervisedChild>;
  readonly #workers: SupervisedChild[] = [];

  constructor(start: (provider: CloudProvider, settings: Environment) => Promise<SupervisedChild>) {
    this.#start = start;
  }

  async begin(providers: readonly CloudProvider[]): Promise<void> {
    for (const provider of providers.filter(isReady)) {
      this.#workers.push(await this.#start(provider, { ...notForAll, PROVIDER: provider.name }));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.stop(workerPatienceMs)));
  }
}

export function isReady({ missing }: CloudProvider): boolean {
  return missing.length === 0;
}
