import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobHandler } from '#shared/broker/contract/job-contract.ts';
import { CannotContinue, type ContinuationFailure, RouterError, type ErrorCode } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';

/** One step of a job's script. `only` restricts it to the worker of that id. */
export type Step = { only?: string } & (
  | { write: string }
  | { waitMs: number }
  /** Writes `0\n`, `1\n`, … with a pause after each. */
  | { count: number; everyMs: number }
  /** Writes the SHA-256 of the whole body. */
  | { digest: true }
  /** Writes the worker's id. */
  | { whoami: true }
  | { fail: ErrorCode }
  /** Fails for a job whose answer was begun by another worker. */
  | { cannotContinue: ContinuationFailure }
  /** Ends the worker, as a job does that kills its process. */
  | { die: true }
  /** Does nothing more until it is aborted. */
  | { hang: true }
);

/** A job's body with a script for `scriptedHandler`, among other fields. */
export interface Script {
  steps: Step[];
}

/** Called while a scripted job runs. */
export type OnStep = (event: 'started' | 'aborted' | 'done', requestId: string) => void;

/**
 * Creates a worker's handler that follows the script in the job's body. For an answer that was begun, it writes the missing rest.
 * @param die ends the worker; default: kills its process
 */
export function scriptedHandler(
  worker: string,
  onStep: OnStep = () => undefined,
  die: () => void = () => process.kill(process.pid, 'SIGKILL'),
): JobHandler {
  return async (job, reply, signal) => {
    onStep('started', job.requestId);
    signal.addEventListener('abort', () => onStep('aborted', job.requestId), { once: true });
    let begun = job.relayed?.length ?? 0;
    const write = (text: string): boolean => {
      const missing = text.slice(begun);
      begun = Math.max(0, begun - text.length);
      if (missing !== '') reply.write(missing);
      return missing !== '';
    };
    const { steps } = JSON.parse(job.body.toString()) as Script;
    for (const step of steps) {
      if (step.only !== undefined && step.only !== worker) continue;
      if ('write' in step) write(step.write);
      if ('waitMs' in step) await sleep(step.waitMs, undefined, { signal });
      if ('cannotContinue' in step && job.relayed) throw new CannotContinue(step.cannotContinue, 'as scripted');
      if ('whoami' in step) reply.write(worker);
      if ('digest' in step) reply.write(createHash('sha256').update(job.body).digest('hex'));
      if ('fail' in step) throw new RouterError(step.fail, `the script fails with ${step.fail}`);
      if ('die' in step) die();
      if ('hang' in step || 'die' in step)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if ('count' in step) {
        for (let number = 0; number < step.count; number += 1) {
          if (write(`${number}\n`)) await sleep(step.everyMs, undefined, { signal });
        }
      }
    }
    onStep('done', job.requestId);
    return { usage: noUsage, finishReason: 'stop' };
  };
}
