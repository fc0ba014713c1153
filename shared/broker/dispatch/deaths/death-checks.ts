import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ErrorFacts } from '../../contract/frame.ts';
import type { Job } from '../job.ts';
import type { WorkerLink } from '../worker-link.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import type { Death } from './death.ts';

/** Milliseconds between two questions to the worker. */
const askIntervalMs = 200;

/**
 * Milliseconds after a supposed death during which the worker may still show that it lives. They are as long as the silence after which a
 * worker counts as lost.
 */
const maxDoubtMs = 3_300;

/** Minimum milliseconds that a worker has to answer. The broker must be connected, and this process not blocked, during this time. */
const minAnswerMs = 1_000;

export interface DeathCheck {
  isWanted: () => boolean;
  /** Whether other signs have shown that the worker lives. */
  isRefuted: () => boolean;
  /** Called once, in a later turn of the event loop, if the verdict is still wanted. */
  onVerdict: (hasDied: boolean) => void;
}

interface Check extends Pick<DeathCheck, 'onVerdict'> {
  death: Death;
  timer: NodeJS.Timeout;
}

/**
 * Checks, after a second worker seems to have died with a job, whether the first worker is really dead. Two deaths end the job. A worker
 * that has only lost its connection counts as dead, too, until its heartbeats show that it lived on, which takes two seconds.
 *
 * The check requests a frame of the job that cannot exist. The process that gets the request answers that it does not have the frame, and
 * reports when it was started. If this is the announced process, the worker lives. If another process has replaced it, or no answer comes,
 * the worker is dead.
 */
export class DeathChecks {
  readonly #broker: Broker;
  readonly #workers: Pick<LiveWorkers, 'get'>;
  readonly #link: WorkerLink;
  readonly #log: Logger;
  /** The checks by the grant of the dead worker's attempt. */
  readonly #checks = new Map<string, Check>();

  constructor(broker: Broker, workers: Pick<LiveWorkers, 'get'>, link: WorkerLink, log: Logger) {
    this.#broker = broker;
    this.#workers = workers;
    this.#link = link;
    this.#log = log;
  }

  close(): void {
    for (const { timer } of this.#checks.values()) clearInterval(timer);
    this.#checks.clear();
  }

  /** Starts a check of a job's death. Does nothing if the check is under way. */
  start(job: Job, death: Death, { isWanted, isRefuted, onVerdict }: DeathCheck): void {
    const { grant, worker, diedAt: at } = death;
    if (this.#checks.has(grant)) return;
    const { requestId } = job.request;
    this.#log.info(
      { requestId, traceId: job.traceId, worker: worker.id },
      'asking whether a worker died with a request',
    );
    let deadline = Math.max(at + maxDoubtMs, performance.now() + minAnswerMs);
    let checkedAt = performance.now();
    const checkNow = (): void => {
      const now = performance.now();
      // If this process was blocked, it has not yet read the answers that came in the meantime.
      const wasBlocked = now - checkedAt > minAnswerMs / 2;
      checkedAt = now;
      if (!isWanted()) return this.#forget(grant);
      if (isRefuted()) return this.#decide(grant, false);
      if (wasBlocked || !this.#broker.connected) deadline = Math.max(deadline, now + minAnswerMs);
      const announcedStart = this.#workers.get(worker.id)?.announcement.startedAt;
      const isReplaced = announcedStart !== undefined && announcedStart !== worker.announcement.startedAt;
      if (isReplaced || now >= deadline) return this.#decide(grant, true);
      this.#link.sendDeathCheck(death);
    };
    this.#checks.set(grant, { death, timer: setInterval(checkNow, askIntervalMs), onVerdict });
    setImmediate(checkNow);
  }

  /** @param readFacts reads the answer. It is called only if the check is under way, because anybody can send answers of any size */
  onAnswer(grant: string, readFacts: () => ErrorFacts): void {
    const check = this.#checks.get(grant);
    const startedAt = check && readFacts().startedAt;
    if (check && startedAt !== undefined) this.#decide(grant, startedAt !== check.death.worker.announcement.startedAt);
  }

  #decide(grant: string, hasDied: boolean): void {
    const check = this.#checks.get(grant);
    this.#forget(grant);
    check?.onVerdict(hasDied);
  }

  #forget(grant: string): void {
    clearInterval(this.#checks.get(grant)?.timer);
    this.#checks.delete(grant);
  }
}
