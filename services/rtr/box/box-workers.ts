import type { Environment } from '#shared/core/load-config.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { serviceNodeFlags } from '../bootstrap/service-node-flags.mjs';
import { spawnGuarded } from '../up/children/child.ts';
import type { Children } from '../up/children/children.ts';
import { findServiceProgram } from '../up/service-environment.ts';
import type { SupervisedChild } from '../up/children/supervised-child.ts';
import type { LogRelay } from '../logs/log-relay.ts';
import { findFreePort } from '../up/servers/free-port.ts';

export interface BoxWorkersOptions {
  /** Folder of the project or package. */
  root: string;
  environment: Environment;
  brokerUrl: string;
  /** File with the credential of each tier that the box may serve. */
  credentialFiles: Partial<Record<Tier, string>>;
  children: Pick<Children, 'start'>;
  logs: Pick<LogRelay, 'follow'>;
}

/** Settings of the router's machine, and of other processes of the box, that no worker of a box gets. */
const unsharedSettings: Environment = Object.fromEntries(
  ['NATS_URL', 'NATS_CREDENTIALS', 'NATS_CA', 'ADMIN_PORT', 'RTR_PREFIX', 'REDIS_URL'].flatMap((name) => [
    [name, undefined],
    [`${name}_FILE`, undefined],
  ]),
);

/** Starts the workers of a box, each with the credential of its tier, and reads from their admin ports whether they serve. */
export class BoxWorkers {
  readonly #options: BoxWorkersOptions;
  /** The admin port of each worker's last start. */
  readonly #ports = new Map<string, number>();

  constructor(options: BoxWorkersOptions) {
    this.#options = options;
  }

  /** Whether the box may serve a tier. */
  covers(tier: Tier): boolean {
    return this.#options.credentialFiles[tier] !== undefined;
  }

  /** The tiers that the box may serve, for a person. */
  get coveredTiers(): string {
    return tiers.filter((tier) => this.covers(tier)).join(', ');
  }

  start(name: string, tier: Tier, settings: Environment): Promise<SupervisedChild> {
    const { root, environment, brokerUrl, credentialFiles, children, logs } = this.#options;
    const service = `${tier}-worker`;
    return children.start(name, false, async () => {
      const port = await findFreePort();
      this.#ports.set(name, port);
      const child = spawnGuarded(process.execPath, [...serviceNodeFlags, findServiceProgram(root, service)], {
        env: {
          ...environment,
          ...unsharedSettings,
          ...settings,
          NATS_URL: brokerUrl,
          NATS_CREDENTIALS: credentialFiles[tier],
          ADMIN_HOST: '127.0.0.1',
          ADMIN_PORT: String(port),
          // The log relay formats the lines.
          LOG_FORMAT: 'json',
        },
      });
      logs.follow(name, child);
      return child;
    });
  }

  /** Whether a worker's upstream answers, and the broker accepts the worker. */
  async isServing(name: string): Promise<boolean> {
    const port = this.#ports.get(name);
    if (port === undefined) return false;
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(1_000) });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  }
}
