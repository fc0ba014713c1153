import type { BackgroundJob } from './background-job.ts';

/** What a job that makes one response is about. */
export interface ResponseJob {
  /** Id of the response. */
  response: string;
}

/**
 * Responses of owners with few of them go first: one with hundreds delays its own.
 * @param open how many responses of its owner are not over, this one among them
 */
export function responseJob(id: string, open: number): BackgroundJob<ResponseJob> {
  return { queue: 'responses', id, data: { response: id }, priority: open };
}
