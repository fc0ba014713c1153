import { z } from 'zod';
import { webhookSchema } from './webhooks.ts';

/*
 * The contract between the console's pages and its API: background work, for administrators. The rules of `conventions.ts` apply.
 */

export const failingJobSchema = z
  .object({
    queue: z.string(),
    id: z.string().describe('Names what the job is for, for example `batch_0123-7`.'),
    failures: z.number().describe('The number of tries that failed.'),
    lastAt: z.number().exactOptional().describe('The time of the last try, in milliseconds since 1970.'),
    reason: z.string().describe('Why the last try failed.'),
  })
  .meta({ id: 'FailingJob' });

/** `POST /background/repeat` `{ queue, id }` retries a job now, and answers `{ repeated }`, which is false if the job no longer waits. */
export type FailingJobFacts = z.output<typeof failingJobSchema>;

export const backgroundSchema = z
  .object({
    queues: z.array(
      z.object({
        name: z.string(),
        waiting: z.number(),
        active: z.number(),
        delayed: z
          .number()
          .describe('The number of jobs that begin later, because they have failed or wait for something.'),
      }),
    ),
    failing: z.array(failingJobSchema),
  })
  .meta({ id: 'BackgroundWork' });

/** `GET /background`: the queues, and the failed jobs that are tried again, at most 100 of each queue. */
export type Background = z.output<typeof backgroundSchema>;
export type BackgroundQueueFacts = Background['queues'][number];

export const webhookBacklogSchema = z
  .object({
    webhook: webhookSchema,
    pending: z.number(),
    dead: z.number().describe('Deliveries that were given up.'),
  })
  .meta({ id: 'WebhookBacklog' });

/** `GET /background/webhooks`: the webhooks with pending or dead deliveries. */
export type WebhookBacklog = z.output<typeof webhookBacklogSchema>;
