import type { BackgroundJob } from './background-job.ts';

export interface ResponseJob {
  response: string;
}

/**
 * Returns the job of a response. Responses of owners with few of them go first: an owner with hundreds delays only its own.
 * @param open unfinished responses of its owner, this one included
 */
export function responseJob(id: string, open: number): BackgroundJob<ResponseJob> {
  return { queue: 'responses', id, data: { response: id }, priority: open };
}
