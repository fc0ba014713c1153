import { z } from 'zod';
import { nameRequests } from '#shared/accounts/ledger/name-requests.ts';
import { limitNames } from '#shared/accounts/limits/limits.ts';
import { measure } from '#shared/accounts/limits/measures.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';
import { widenToUnits } from '#shared/accounts/periods.ts';
import {
  limitUseSchema,
  usageHoursSchema,
  usageReportSchema,
  type LimitUse,
  type UsageRequest,
} from '../../contract/usage.ts';
import { fileOperation, operation, type Operation } from '../operations/operation.ts';
import { exportRecords, jsonFile, type ExportFile } from '../export-records.ts';
import { priceOperations } from './price-operations.ts';
import { refusalOperations } from './refusal-operations.ts';
import { requestOperations } from './request-operations.ts';
import type { UsageParts } from './usage-parts.ts';
import { exportQuery, hoursQuery, reportQuery } from './usage-query.ts';
import { toHourAnswer, toTotalsAnswer, findGroupNames, findHourGroupNames } from './usage-answers.ts';
import { usageCsvHead, toUsageCsvLine } from '#shared/accounts/ledger/usage-csv.ts';

export const usageFile: Record<'csv' | 'json', ExportFile<UsageRequest>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    name: 'usage.csv',
    head: usageCsvHead,
    toText: (request) => toUsageCsvLine(request),
    tail: '',
  },
  json: jsonFile('usage.json'),
};

export function usageOperations(parts: UsageParts): Operation[] {
  const { usage, limits, viewerOf, listLimitedParties } = parts;
  const common = { subject: 'usage', scopes: ['read'] } as const;
  return [
    operation({
      ...common,
      method: 'get',
      path: '/usage',
      id: 'getUsage',
      summary: 'Returns sums over requests by day or month, grouped as `by` says.',
      command: 'usage report',
      form: { hidden: ['times', 'steps'], example: 'usage report --from 7d --by team' },
      query: reportQuery,
      answer: usageReportSchema,
      handle: async ({ actor, query: { from, to, step, by, ...filter } }) => {
        const viewer = viewerOf(actor);
        const { times, groups, totals } = await usage.readReport({ viewer, from, to, step, by, filter });
        const nameOf = await findGroupNames(
          parts,
          by,
          groups.map(({ id }) => id),
        );
        const named = groups.map(({ id, totals: sum, steps }) => ({
          id,
          name: nameOf(id),
          totals: toTotalsAnswer(sum),
          steps: steps.map(toTotalsAnswer),
        }));
        return {
          ...widenToUnits(step, { from, to }),
          step,
          times: [...times],
          groups: named,
          totals: toTotalsAnswer(totals),
        };
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/usage/hours',
      id: 'getUsageHours',
      summary: 'Returns sums by hour over the requests of the last eight days, grouped by model, key, team or person.',
      command: 'usage hours',
      form: { hidden: ['times', 'steps'], period: '24h', example: 'usage hours --from 6h --by key' },
      query: hoursQuery,
      answer: usageHoursSchema,
      handle: async ({ actor, query: { from, to, by, ...filter } }) => {
        const { times, groups } = await usage.readHours({ viewer: viewerOf(actor), from, to, by, filter });
        const nameOf = await findHourGroupNames(parts, by, groups);
        const named = groups.map((group) => ({
          id: group.id,
          name: nameOf(group),
          totals: toHourAnswer(group.totals),
          steps: group.steps.map(toHourAnswer),
        }));
        return { ...widenToUnits('hour', { from, to }), times, groups: named };
      },
    }),
    fileOperation({
      ...common,
      path: '/usage/export',
      id: 'exportRequests',
      summary: 'Writes single requests as a file, oldest first.',
      command: 'usage export',
      query: exportQuery,
      files: ['text/csv', 'application/json'],
      handle: async ({ actor, query: { format, from, to, ...filter }, response }) => {
        const records = usage.export(viewerOf(actor), filter, from, to);
        await exportRecords(response, usageFile[format], records, nameRequests(parts.namesOf));
      },
    }),
    operation({
      ...common,
      method: 'get',
      path: '/usage/now',
      id: 'getLimitUse',
      summary: 'Returns how much of each limit of people, teams and keys is used.',
      command: 'limits show',
      answer: z.array(limitUseSchema),
      handle: async ({ actor }) => {
        const parties = await listLimitedParties(viewerOf(actor));
        const uses = await limits.read(parties);
        return uses.map((use, index) => {
          const { name, shownAs = use.party } = parties[index] ?? { name: use.party };
          return { party: shownAs, name, limits: toLimitUses(use) };
        });
      },
    }),
    ...requestOperations(parts),
    ...refusalOperations(parts),
    ...priceOperations(parts),
  ];
}

/** Returns a party's use of each of its limits, in the unit of the limit. Reservations of running requests count as used. */
function toLimitUses(use: PartyUse): LimitUse['limits'] {
  return limitNames.flatMap((limitName) => {
    const measured = measure(limitName, use, { tokens: 0, cost: 0 });
    const limit = use.limits[limitName];
    if (!measured || limit === undefined) return [];
    const { spent, reserved, unit, resetsAt } = measured;
    return [{ name: limitName, limit, used: (spent + reserved) / unit, ...(resetsAt !== undefined && { resetsAt }) }];
  });
}
