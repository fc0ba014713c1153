import { z } from 'zod';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { backgroundQueues } from '#shared/background/background-job.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { backgroundSchema, webhookBacklogSchema, type FailingJobFacts } from '../../contract/background.ts';
import { requireAccess } from '../access.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { toWebhookAnswers } from '../webhooks/webhook-answers.ts';

const maxFailingJobs = 100;

const repeatBody = z.strictObject({ queue: z.enum(backgroundQueues), id: z.string().min(1).max(200) });

export interface BackgroundParts extends Pick<ApiParts, 'accounts' | 'log'> {
  jobs: Pick<BackgroundJobs, 'countAll' | 'listFailing' | 'tryNow'>;
  webhooks: Webhooks;
}

export function backgroundOperations(parts: BackgroundParts): Operation[] {
  const { accounts, jobs, webhooks } = parts;
  const common = { subject: 'background work', scopes: ['read'] } as const;
  return [
    operation({
      ...common,
      method: 'get',
      path: '/background',
      id: 'getBackgroundWork',
      summary: 'Returns the queues, and the jobs that have failed and will be tried again.',
      command: 'background show',
      answer: backgroundSchema,
      handle: async ({ actor }) => {
        requireAccess('background.see', actor);
        const [counts, failing] = await Promise.all([jobs.countAll(), Promise.all(backgroundQueues.map(findFailing))]);
        const queues = backgroundQueues.map((name) => {
          const { waiting, active, delayed } = counts[name];
          return { name, waiting, active, delayed };
        });
        return { queues, failing: failing.flat() };
      },
    }),
    operation({
      method: 'post',
      path: '/background/repeat',
      id: 'repeatJob',
      subject: 'background work',
      summary: 'Tries a failed job again now, before its next try is due.',
      scopes: [],
      command: 'background repeat',
      form: { arguments: ['queue', 'id'] },
      body: repeatBody,
      answer: z.object({ repeated: z.boolean().describe('False if the job no longer waits for its next try.') }),
      handle: async ({ actor, body: { queue, id } }) => {
        requireAccess('background.repeat', actor);
        const repeated = await jobs.tryNow({ queue, id });
        const target = { kind: 'job', id, name: id };
        if (repeated) await writeAudit(parts, actor, { action: 'background.repeat', target, details: { queue } });
        return { repeated };
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/background/webhooks',
      id: 'listWebhookBacklog',
      summary: 'Lists the webhooks with events that are not delivered: those on their way, and those given up.',
      command: 'background webhooks',
      form: {
        columns: ['webhook.id', 'pending', 'dead', 'webhook.owner', 'webhook.url'],
        none: 'No events are on their way, and none were given up.',
      },
      answer: z.array(webhookBacklogSchema),
      handle: async ({ actor }) => {
        requireAccess('background.see', actor);
        const endpoints = await webhooks.endpoints.list();
        const counts = await webhooks.deliveries.countByState(endpoints.map(({ id }) => id));
        const busy = endpoints.flatMap((endpoint, index) => {
          const { pending, dead } = counts[index] ?? { pending: 0, dead: 0 };
          return pending + dead > 0 ? [{ endpoint, pending, dead }] : [];
        });
        const answers = await toWebhookAnswers(
          accounts,
          busy.map(({ endpoint }) => endpoint),
        );
        return busy.flatMap(({ pending, dead }, index) => {
          const webhook = answers[index];
          return webhook ? [{ webhook, pending, dead }] : [];
        });
      },
    }),
  ];

  async function findFailing(queue: (typeof backgroundQueues)[number]): Promise<FailingJobFacts[]> {
    const failing = await jobs.listFailing(queue, maxFailingJobs);
    return failing.map(({ lastAt, ...job }) => ({ queue, ...job, ...(lastAt !== undefined && { lastAt }) }));
  }
}
