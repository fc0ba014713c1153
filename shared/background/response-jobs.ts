import type { BackgroundJob } from './background-job.ts';

export interface ResponseJob {
  response: string;
}

/**
 * Returns the job of a response. Responses of owners with few unfinished ones come first, so an owner with hundreds delays only its own.
 * @param open number of unfinished responses of its owner, including this one
 */
export function responseJob(id: string, open: number): BackgroundJob<ResponseJob> {
  return { queue: 'responses', id, data: { response: id }, priority: open };
}
