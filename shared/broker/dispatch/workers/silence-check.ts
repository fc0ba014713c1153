import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from './live-pool.ts';

/** Milliseconds without a heartbeat after which a worker counts as lost, which is three missed heartbeats and a margin. */
const lostAfterMs = 3_300;

/** Milliseconds without a heartbeat after which a worker gets no offers until the next heartbeat, because it may be dead. */
const lateAfterMs = 1_500;

/** Milliseconds after which a broker that has not answered a ping must itself have been blocked. */
const promptMs = 500;

const checkEveryMs = 250;

/**
 * Finds workers that have been silent for too long. If this process was blocked (stopped, starved), it has missed heartbeats, so it first
 * resets the silence of all workers. Before a silent worker counts as lost, the broker must answer, which shows that the broker is not
 * blocked.
 */
export class SilenceCheck {
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #workers: ReadonlyMap<string, LiveWorker>;
  readonly #onSilent: (workers: readonly LiveWorker[]) => void;
  readonly #stop: () => void;
  #lastCheck = performance.now();
  #isAsking = false;

  /** @param onSilent called with the workers that count as lost, perhaps none */
  constructor(
    broker: Broker,
    log: Logger,
    workers: ReadonlyMap<string, LiveWorker>,
    onSilent: (workers: readonly LiveWorker[]) => void,
  ) {
    this.#broker = broker;
    this.#log = log;
    this.#workers = workers;
    this.#onSilent = onSilent;
    const timer = setInterval(() => this.#check(), checkEveryMs);
    const stopReconnect = broker.onReconnect(() => this.#restart());
    this.#stop = () => {
      clearInterval(timer);
      stopReconnect();
    };
  }

  close(): void {
    this.#stop();
  }

  #check(): void {
    const now = performance.now();
    const stoodStill = now - this.#lastCheck > 1_000;
    this.#lastCheck = now;
    if (!this.#broker.connected) return;
    if (stoodStill) this.#restart();
    for (const worker of this.#workers.values())
      if (worker.lastHeartbeatAt < now - lateAfterMs) worker.hasRefused = true;
    if (this.#isAsking || this.#silent(now).length === 0) return;
    this.#isAsking = true;
    this.#broker
      .flush()
      .then(() => {
        if (performance.now() - now > promptMs) this.#restart();
        else this.#onSilent(this.#silent(performance.now()));
      })
      .catch((error: unknown) => this.#log.debug({ err: error }, 'the broker cannot be asked whether workers are lost'))
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #silent(now: number): LiveWorker[] {
    return [...this.#workers.values()].filter(
      ({ lastHeartbeatAt, lastFrameAt }) => Math.max(lastHeartbeatAt, lastFrameAt) < now - lostAfterMs,
    );
  }

  /**
   * Resets the silence of all workers. Announcements are not requested, because each worker's next heartbeat shows whether its announcement
   * has changed.
   */
  #restart(): void {
    const now = performance.now();
    for (const worker of this.#workers.values()) worker.lastHeartbeatAt = now;
  }
}
