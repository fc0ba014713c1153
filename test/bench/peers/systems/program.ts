import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '#shared/core/load-config.ts';
import { collectLastLines, isRunning, spawnGuarded, stopChild, type Child } from '#services/rtr/up/children/child.ts';

/** A program of a system. It ends with this process, however that ends. */
export class Program {
  readonly pid: number;
  readonly #name: string;
  readonly #child: Child;
  readonly #lastLines: () => string[];

  constructor(name: string, command: string, args: readonly string[], env: Environment = {}) {
    this.#name = name;
    this.#child = spawnGuarded(command, args, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'production', ...env },
    });
    this.#lastLines = collectLastLines(this.#child);
    this.pid = this.#child.pid ?? 0;
  }

  /**
   * Waits until it answers a GET of this address with 200.
   * @throws Error with its last line when it ends, or does not answer in time
   */
  async untilAnswers(url: string, seconds: number): Promise<void> {
    const deadline = performance.now() + seconds * 1000;
    while (performance.now() < deadline && isRunning(this.#child)) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.status === 200) return;
      await sleep(100);
    }
    await this.stop();
    const last = this.#lastLines().at(-1) ?? 'it wrote nothing';
    throw new Error(`${this.#name} does not answer after ${seconds} seconds: ${last}`);
  }

  stop(): Promise<void> {
    return stopChild(this.#child, 5_000);
  }
}
