import type { GrantedJob } from './job-contract.ts';

const nothing = Buffer.alloc(0);

/**
 * A job's body, which the job lets go of: a body may have many megabytes, and an answer may stream for minutes after the
 * body was read.
 */
export function takeBody(job: GrantedJob): Buffer {
  const { body } = job;
  job.body = nothing;
  return body;
}
