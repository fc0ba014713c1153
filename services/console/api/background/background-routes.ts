import { Router } from 'express';
import { z } from 'zod';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { backgroundQueues } from '#shared/background/background-job.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import type { Background, FailingJobFacts, WebhookBacklog } from '../../contract/background.ts';
import { requireAccess } from '../access.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { parse } from '../parse.ts';
import { signedInOf } from '../session/signed-in.ts';
import { webhookAnswers } from '../webhooks/webhook-answers.ts';

/** Failing jobs of one queue that are shown. */
const mostFailing = 100;

const repetition = z.strictObject({ queue: z.enum(backgroundQueues), id: z.string().min(1).max(200) });

export interface BackgroundRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  jobs: Pick<BackgroundJobs, 'counts' | 'failing' | 'tryNow'>;
  webhooks: Webhooks;
}

/** The routes of `contract/background.ts`, for administrators. */
export function backgroundRoutes(parts: BackgroundRoutesParts): Router {
  const { accounts, jobs, webhooks } = parts;
  const routes = Router();
  routes.get('/background', async (_, response) => {
    requireAccess('background.see', signedInOf(response));
    const [counts, failing] = await Promise.all([jobs.counts(), Promise.all(backgroundQueues.map(failingOf))]);
    const queues = backgroundQueues.map((name) => {
      const { waiting, active, delayed } = counts[name];
      return { name, waiting, active, delayed };
    });
    response.json({ queues, failing: failing.flat() } satisfies Background);
  });
  routes.post('/background/repeat', async (request, response) => {
    const person = signedInOf(response);
    requireAccess('background.repeat', person);
    const { queue, id } = parse(repetition, request.body);
    const repeated = await jobs.tryNow({ queue, id });
    const target = { kind: 'job', id, name: id };
    if (repeated) await record(parts, person, { action: 'background.repeat', target, details: { queue } });
    response.json({ repeated });
  });
  routes.get('/background/webhooks', async (_, response) => {
    requireAccess('background.see', signedInOf(response));
    const endpoints = await webhooks.endpoints.list();
    const counts = await webhooks.deliveries.counts(endpoints.map(({ id }) => id));
    const busy = endpoints.flatMap((endpoint, at) => {
      const { pending, dead } = counts[at] ?? { pending: 0, dead: 0 };
      return pending + dead > 0 ? [{ endpoint, pending, dead }] : [];
    });
    const answers = await webhookAnswers(
      accounts,
      busy.map(({ endpoint }) => endpoint),
    );
    const backlog = busy.flatMap(({ pending, dead }, at) => {
      const webhook = answers[at];
      return webhook ? [{ webhook, pending, dead }] : [];
    });
    response.json(backlog satisfies WebhookBacklog[]);
  });
  return routes;

  async function failingOf(queue: (typeof backgroundQueues)[number]): Promise<FailingJobFacts[]> {
    const found = await jobs.failing(queue, mostFailing);
    return found.map(({ lastAt, ...job }) => ({ queue, ...job, ...(lastAt !== undefined && { lastAt }) }));
  }
}
