import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ErrorFacts } from '../../contract/frame.ts';
import type { Job } from '../job.ts';
import type { WorkerLink } from '../worker-link.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import type { Death } from './death.ts';

const askMs = 200;

/**
 * Milliseconds after a supposed death during which the worker may still show that it lives. A silent worker counts as lost after the same
 * time.
 */
const doubtMs = 3_300;

/** Minimum milliseconds that a worker has to answer. The broker must be connected, and this process not blocked, during all of them. */
const answerMs = 1_000;

export interface DeathCheck {
  isWanted: () => boolean;
  /** Whether other signs have shown that the worker lives. */
  isRefuted: () => boolean;
  /** Called once, in a later turn of the event loop, unless the verdict is not wanted any more. */
  onVerdict: (hasDied: boolean) => void;
}

interface Check extends Pick<DeathCheck, 'onVerdict'> {
  death: Death;
  timer: NodeJS.Timeout;
}

/**
 * Checks whether the first worker that died with a job is dead, before a second death ends the job. A worker that has only lost its
 * connection counts as dead, too, until its heartbeats show that it lived afterwards, which takes two seconds.
 *
 * From the worker, the check requests a frame of the job that cannot exist. The process that gets the question answers that it does not
 * have the frame, and when it was started. If that is the same process, the worker lives; if another process has replaced it, or no answer
 * comes, it is dead.
 */
export class DeathChecks {
  readonly #broker: Broker;
  readonly #workers: Pick<LiveWorkers, 'get'>;
  readonly #link: WorkerLink;
  readonly #log: Logger;
  /** The checks, by the grant of the dead worker's attempt. */
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
    const { grant, worker, at } = death;
    if (this.#checks.has(grant)) return;
    const { requestId } = job.request;
    this.#log.info(
      { requestId, traceId: job.traceId, worker: worker.id },
      'asking whether a worker died with a request',
    );
    let until = Math.max(at + doubtMs, performance.now() + answerMs);
    let lookedAt = performance.now();
    const look = (): void => {
      const now = performance.now();
      // This process was blocked, so it has not read answers that came meanwhile.
      const wasBlocked = now - lookedAt > answerMs / 2;
      lookedAt = now;
      if (!isWanted()) return this.#forget(grant);
      if (isRefuted()) return this.#decide(grant, false);
      if (wasBlocked || !this.#broker.connected) until = Math.max(until, now + answerMs);
      const known = this.#workers.get(worker.id)?.announcement.startedAt;
      const isReplaced = known !== undefined && known !== worker.announcement.startedAt;
      if (isReplaced || now >= until) return this.#decide(grant, true);
      this.#link.sendDeathCheck(death);
    };
    this.#checks.set(grant, { death, timer: setInterval(look, askMs), onVerdict });
    setImmediate(look);
  }

  onAnswer(grant: string, { startedAt }: ErrorFacts): void {
    const check = this.#checks.get(grant);
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
