import type { Logger } from '#shared/core/log.ts';
import { parseWorkerAddress, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';
import { CredentialRates } from './credential-rates.ts';

/** Maximum bytes of a pull, an ack, a claim or a request for lanes. The longest has an ack subject of `maxSubjectLength` characters. */
const maxBytes = 1_024;

/** The messages that a claim that gets a job stands for: the claim, two pulls, and an ack. */
const messagesPerGrant = 4;

/**
 * The small messages that are read of the workers of one credential and that bring them no job here. A dispatcher reads `burst` within a
 * second, and `perSecond` in a tenth of its time. The rate grows with the jobs that the workers get here: each claim that gets a job
 * returns `messagesPerGrant`, and a busy worker sends at most three messages for each of its jobs, at a rate of thousands of jobs per
 * second. So what counts are only the messages without a job: when nothing is to do, less than one per second from each worker; after a
 * restart of the broker, ten at once from each of a thousand workers; and the pulls for jobs of other dispatchers. A worker waits for the
 * answer to each pull, so these are a few hundred per second from each busy worker: `perSecondOfWorker`, up to `maxPerSecond`, because a
 * credential may announce a thousand workers.
 */
export const messageRate = {
  burst: 20_000,
  perSecond: 2_000,
  minCost: 1,
  perSecondOfWorker: 200,
  maxPerSecond: 4_000,
};

/**
 * The waiting pulls with heartbeats of the workers of one credential, beside one for each job that they get. For each heartbeat, the server
 * goes through all waiting pulls of the lane. A worker with nothing to do pulls from each of three lanes every 30 seconds. A pull beyond
 * the rate waits without heartbeats.
 */
export const heartbeatRate = { burst: 600, perSecond: 40, minCost: 1, perSecondOfWorker: 0.1, maxPerSecond: 100 };

/**
 * Decides which small messages of workers this process reads, so that the workers of one credential cannot keep it from the workers of
 * others. Messages that are not read are dropped without an answer; workers send them again, as after a lost message.
 */
export class WorkerMessages {
  readonly #log: Logger;
  readonly #countWorkers: (credentialName: string) => number;
  readonly #rates = new CredentialRates(messageRate);
  readonly #heartbeatRates = new CredentialRates(heartbeatRate);

  /** @param countWorkers returns the number of a credential's workers that have announced themselves */
  constructor(log: Logger, countWorkers: (credentialName: string) => number) {
    this.#log = log;
    this.#countWorkers = countWorkers;
  }

  /**
   * Counts a message towards the rate of its sender's credential.
   * @returns the sender's address; undefined if the message must be ignored, because its subject has no valid address, it is too large, or
   * the workers of the credential send too much
   */
  admit({ subject, data }: { subject: string; data: Uint8Array }, now?: number): WorkerAddress | undefined {
    const address = data.length > maxBytes ? undefined : parseWorkerAddress(subject);
    if (!address) return undefined;
    const verdict = this.#rates.use(address, 1, now, this.#computePerSecond(address, messageRate));
    if (verdict === 'report')
      this.#log.error({ worker: formatWorkerId(address) }, 'the workers of an owner send too much: some is not read');
    return verdict === 'allowed' ? address : undefined;
  }

  /** Whether the server may send heartbeats for a waiting pull of a worker. */
  mayHaveHeartbeats(worker: WorkerAddress, now?: number): boolean {
    const perSecond = this.#computePerSecond(worker, heartbeatRate);
    return this.#heartbeatRates.use(worker, 1, now, perSecond) === 'allowed';
  }

  /** Records that a worker has got a job by its claim. */
  recordGrant(worker: WorkerAddress): void {
    this.#rates.refund(worker, messagesPerGrant);
    this.#heartbeatRates.refund(worker, 1);
  }

  #computePerSecond(
    { credentialName }: WorkerAddress,
    { perSecond, perSecondOfWorker, maxPerSecond }: typeof messageRate,
  ): number {
    return Math.min(maxPerSecond, Math.max(perSecond, this.#countWorkers(credentialName) * perSecondOfWorker));
  }
}
