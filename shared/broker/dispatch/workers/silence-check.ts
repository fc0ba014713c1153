import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { LiveWorker } from './live-worker.ts';

/** Milliseconds without a heartbeat after which a worker counts as lost: three missed heartbeats and a margin. */
const lostAfterMs = 3_300;

/** Milliseconds without a heartbeat after which a worker gets no offers until the next heartbeat, because it may be dead. */
export const lateAfterMs = 1_500;

const checkIntervalMs = 250;

/**
 * Finds workers that have been silent for too long. If this process was blocked (stopped or starved), it has not read heartbeats; the
 * silence of all workers then counts from the end of the block. Before a silent worker counts as lost, the broker must answer promptly,
 * which shows that the broker was not blocked.
 */
export class SilenceCheck {
  readonly #broker: Broker;
  readonly #workers: ReadonlyMap<string, LiveWorker>;
  readonly #onSilent: (workers: readonly LiveWorker[]) => void;
  readonly #stop: () => void;
  #lastCheck = performance.now();
  #isAsking = false;

  /** @param onSilent called with the workers that count as lost; the list may be empty */
  constructor(
    broker: Broker,
    workers: ReadonlyMap<string, LiveWorker>,
    onSilent: (workers: readonly LiveWorker[]) => void,
    log: Logger,
  ) {
    this.#broker = broker;
    this.#workers = workers;
    this.#onSilent = onSilent;
    const timer = setInterval(() => {
      this.#check().catch((error: unknown) => log.error({ err: error }, 'the silence of workers could not be checked'));
    }, checkIntervalMs);
    const stopReconnect = broker.onReconnect(() => this.#restartSilence());
    this.#stop = () => {
      clearInterval(timer);
      stopReconnect();
    };
  }

  close(): void {
    this.#stop();
  }

  async #check(): Promise<void> {
    const now = performance.now();
    const wasBlocked = now - this.#lastCheck > 1_000;
    this.#lastCheck = now;
    if (!this.#broker.connected) return;
    if (wasBlocked) this.#restartSilence();
    for (const worker of this.#workers.values()) if (worker.lastHeartbeatAt < now - lateAfterMs) worker.stopOffers();
    if (this.#isAsking || this.#findSilent(now).length === 0) return;
    this.#isAsking = true;
    const isPrompt = await this.#broker.answersPromptly();
    this.#isAsking = false;
    if (isPrompt) this.#onSilent(this.#findSilent(performance.now()));
    else this.#restartSilence();
  }

  #findSilent(now: number): LiveWorker[] {
    return [...this.#workers.values()].filter(
      ({ lastHeartbeatAt, lastFrameAt }) => Math.max(lastHeartbeatAt, lastFrameAt) < now - lostAfterMs,
    );
  }

  /**
   * Counts the silence of all workers from now on. Announcements are not requested, because the next heartbeat of each worker shows whether
   * its announcement has changed.
   */
  #restartSilence(): void {
    const now = performance.now();
    for (const worker of this.#workers.values()) worker.restartSilence(now);
  }
}
