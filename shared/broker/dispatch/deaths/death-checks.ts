import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../../connection/connect-broker.ts';
import type { ErrorFacts } from '../../contract/frame.ts';
import type { Job } from '../job.ts';
import type { WorkerLink } from '../worker-link.ts';
import type { LiveWorkers } from '../workers/live-workers.ts';
import type { Death } from './death.ts';

/** Milliseconds between two questions to a worker. */
const askMs = 200;

/** Milliseconds after its death in which a worker may still show that it lives: as long as a silent one is not lost. */
const doubtMs = 3_300;

/** Milliseconds that a worker has for its answer in any case, and in which the broker must be connected all the time. */
const answerMs = 1_000;

/** What a check is for. */
export interface DeathCheck {
  /** Whether the job still waits for the verdict. */
  isWanted: () => boolean;
  /** Whether the worker has shown by other signs that it lives. */
  isRefuted: () => boolean;
  /** Called once, in a later turn, unless the verdict is not wanted any more. */
  onVerdict: (hasDied: boolean) => void;
}

interface Check extends Pick<DeathCheck, 'onVerdict'> {
  death: Death;
  timer: NodeJS.Timeout;
}

/**
 * Finds out whether the first worker that died with a job is dead, before the job ends because a second one died. One that has
 * only lost its connection counts as dead, too, until heartbeats show that it lived afterwards, which takes two seconds.
 *
 * The worker is asked for a frame of the job that cannot exist. Whoever receives the question answers that it does not know the
 * job, and when it was started. The same process lives; another one has taken its place; without an answer it is dead.
 */
export class DeathChecks {
  readonly #broker: Broker;
  readonly #workers: Pick<LiveWorkers, 'get'>;
  readonly #link: WorkerLink;
  readonly #log: Logger;
  /** By the grant that the worker had the job by. */
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

  /** Checks the death of a job. A check under way goes on. */
  begin(job: Job, death: Death, { isWanted, isRefuted, onVerdict }: DeathCheck): void {
    const { grant, worker, at } = death;
    if (this.#checks.has(grant)) return;
    const { requestId } = job.request;
    this.#log.info(
      { requestId, traceId: job.traceId, worker: worker.id },
      'asking whether a worker died with a request',
    );
    let until = Math.max(at + doubtMs, performance.now() + answerMs);
    const look = (): void => {
      const now = performance.now();
      if (!isWanted()) return this.#forget(grant);
      if (isRefuted()) return this.#decide(grant, false);
      if (!this.#broker.connected) until = Math.max(until, now + answerMs);
      const known = this.#workers.get(worker.id)?.announcement.startedAt;
      const isReplaced = known !== undefined && known !== worker.announcement.startedAt;
      if (isReplaced || now >= until) return this.#decide(grant, true);
      this.#link.askWhetherAlive(death);
    };
    this.#checks.set(grant, { death, timer: setInterval(look, askMs), onVerdict });
    setImmediate(look);
  }

  /** The answer to a question has come. */
  onAnswer(grant: string, { startedAt }: ErrorFacts): void {
    const check = this.#checks.get(grant);
    // An older release does not tell.
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
