import { nameRequests } from '#shared/accounts/ledger/name-requests.ts';
import type { SpanItem } from '#shared/accounts/ledger/span-reader.ts';
import { toDollars } from '#shared/accounts/money.ts';
import { z } from 'zod';
import {
  requestPageSchema,
  usageOverviewSchema,
  usageRequestSchema,
  type UsageOverview,
  type UsageItem,
} from '../../contract/usage.ts';
import { notFound } from '../api-failure.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { nameSenders } from './name-senders.ts';
import type { UsageParts } from './usage-parts.ts';
import { overviewQuery, requestsQuery } from './usage-query.ts';
import { toTotalsAnswer } from './usage-answers.ts';

/** The maximum number of models, of keys and of workers in an overview. */
const maxEntries = 10;

/** The columns in which `rtr` lists requests. */
const columns = [
  'at',
  'id',
  'owner.name',
  'key.name',
  'asked',
  'model',
  'tier',
  'outcome',
  'code',
  'totalMs',
  'promptTokens',
  'completionTokens',
  'cost',
];

export function requestOperations(parts: Pick<UsageParts, 'usage' | 'viewerOf' | 'namesOf'>): Operation[] {
  const { usage, viewerOf, namesOf } = parts;
  const common = { method: 'get', subject: 'usage', scopes: ['read'] } as const;
  return [
    operation({
      ...common,
      path: '/usage/requests',
      id: 'listRequests',
      summary: 'Lists single requests. The last to end comes first, while `from` and `to` limit when requests began.',
      command: 'usage requests',
      form: {
        items: 'requests',
        columns,
        none: 'There are no such requests.',
      },
      query: requestsQuery,
      answer: requestPageSchema,
      handle: async ({ actor, query: { before, after, limit, ...filter } }) => {
        const page = await usage.listRequests(viewerOf(actor), filter, limit, before, after);
        const requests = await nameRequests(namesOf)(page.requests);
        return {
          requests: requests.map((request, index) => {
            const cursor = page.cursors[index];
            return { ...request, ...(cursor !== undefined && { cursor }) };
          }),
          ...(page.next !== undefined && { next: page.next }),
          ...(page.newest !== undefined && { newest: page.newest }),
        };
      },
    }),
    operation({
      ...common,
      path: '/usage/requests/{id}',
      id: 'getRequest',
      summary:
        'Returns the requests with an id, which is in the header `x-request-id` of an answer. Newest first. There may be several, because clients may use an id again, and each turn of a request is listed.',
      command: 'usage request',
      form: {
        columns,
      },
      answer: z.array(usageRequestSchema),
      handle: async ({ actor, params: { id } }) => {
        const records = await usage.findById(viewerOf(actor), id);
        if (records.length === 0) throw notFound();
        return nameRequests(namesOf)(records);
      },
    }),
    operation({
      ...common,
      path: '/usage/overview',
      id: 'getUsageOverview',
      summary:
        'Sums up the requests that began in the last hour, 24 hours or seven days of UTC: counts by step, times, and the models, keys and workers with the most requests.',
      command: 'usage overview',
      form: { hidden: ['times', 'steps', 'stepMs'] },
      query: overviewQuery,
      answer: usageOverviewSchema,
      handle: async ({ actor, query: { span } }) => {
        const overview = await usage.readOverview(viewerOf(actor), span, maxEntries);
        const { from, to, times, stepMs, steps, totals, firstTokenMs, totalMs, top } = overview;
        const senderOf = await nameSenders(parts, top.key.map(toSender));
        return {
          span,
          from,
          to,
          stepMs,
          times,
          steps: steps.map(toTotalsAnswer),
          totals: toTotalsAnswer(totals),
          ...(firstTokenMs && { firstTokenMs }),
          ...(totalMs && { totalMs }),
          models: top.model.map((entry) => toEntry(entry)),
          keys: top.key.map((entry): UsageItem => {
            const { key, owner } = senderOf(toSender(entry));
            return { ...toEntry(entry, key?.name), ...(owner && { owner: owner.name }) };
          }),
          workers: top.worker.map((entry) => toEntry(entry)),
        } satisfies UsageOverview;
      },
    }),
  ];
}

function toSender({ id, user, team }: SpanItem): { key: string; user: string; team: string } {
  return { key: id, user, team };
}

function toEntry({ id, requests, failed, promptTokens, completionTokens, cost }: SpanItem, name = id): UsageItem {
  return { id, name, requests, failed, tokens: promptTokens + completionTokens, cost: toDollars(cost) };
}
