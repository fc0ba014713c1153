import type { BackgroundJob } from './background-job.ts';

export interface ResponseJob {
  response: string;
}

/**
 * Returns the job of a background response. Responses of owners with few unfinished responses come first, so an owner with hundreds of
 * responses delays only these.
 * @param unfinished number of unfinished responses of the owner, including this response
 */
export function createResponseJob(id: string, unfinished: number): BackgroundJob<ResponseJob> {
  return { queue: 'responses', id, data: { response: id }, priority: unfinished };
}
