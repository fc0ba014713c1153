import { decodeEnd } from '../contract/frame.ts';
import type { JobEnd } from '../contract/job-contract.ts';
import type { Job } from './job.ts';

/** An answer that is not streamed may have this many bytes at most. */
const maxWholeAnswerBytes = 64 * 1024 * 1024;

/** Takes a piece of a job's answer: to the client when it streams, else aside. @returns false when the answer is too large */
export function takeData(job: Job, payload: Uint8Array, now: number): boolean {
  job.lastDataAt = now;
  if (job.request.stream) {
    show(job, now);
    job.sink.data(payload);
    return true;
  }
  job.parts.push(payload);
  job.partsBytes += payload.length;
  return job.partsBytes <= maxWholeAnswerBytes;
}

/** Takes the end of a job's answer, and gives the client what is left of it. @returns undefined when it cannot be read */
export function takeEnd(job: Job, payload: Uint8Array, now: number): JobEnd | undefined {
  const decoded = decodeEnd(payload);
  if (!decoded) return undefined;
  const { end, lastBytes } = decoded;
  if (job.state === 'claimed') {
    job.firstByteAt = now;
    job.sink.begin(job);
  }
  const bytes = job.parts.length === 0 ? lastBytes : Buffer.concat([...job.parts, lastBytes]);
  job.on('end');
  job.sink.end(bytes);
  return end;
}

/** From here on the client has seen a part of the answer: the job cannot move, so its body is not needed any more. */
function show(job: Job, now: number): void {
  job.lastWriteAt = now;
  if (job.state !== 'claimed') return;
  job.on('output');
  job.sink.begin(job);
  job.firstByteAt = now;
  job.body = undefined;
}
