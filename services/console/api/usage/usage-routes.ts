import { Router } from 'express';
import { nameRequests } from '#shared/accounts/ledger/name-requests.ts';
import { toDollars } from '#shared/accounts/money.ts';
import type { UsageTotals } from '#shared/accounts/ledger/totals.ts';
import { limitNames } from '#shared/accounts/limits/limits.ts';
import { measure } from '#shared/accounts/limits/measures.ts';
import type { PartyUse } from '#shared/accounts/limits/party-use.ts';
import type { LimitUse, Totals, UsageReport } from '../../contract/usage.ts';
import { exportUsage } from './export-usage.ts';
import { parse } from '../parse.ts';
import { priceRoutes } from './price-routes.ts';
import { refusalRoutes } from './refusal-routes.ts';
import { groupNames } from './usage-names.ts';
import type { UsageParts } from './usage-parts.ts';
import { exportQuery, reportQuery, requestsQuery } from './usage-query.ts';

/** The routes of `contract/usage.ts`, for signed-in people. The caller parses bodies and answers failures. */
export function usageRoutes(parts: UsageParts): Router {
  const { usage, limits, viewerOf, limitedParties } = parts;
  const routes = Router();

  routes.get('/usage', async (request, response) => {
    const { from, to, step, by, ...filter } = parse(reportQuery, request.query);
    const viewer = await viewerOf(response);
    const { times, groups, totals } = await usage.report({ viewer, from, to, step, by, filter });
    const ids = groups.map(({ id }) => id);
    const nameOf = await groupNames(parts, by, ids);
    const named = groups.map(({ id, totals: sum, steps }) => ({
      id,
      name: nameOf(id),
      totals: inDollars(sum),
      steps: steps.map(inDollars),
    }));
    response.json({ step, times, groups: named, totals: inDollars(totals) } satisfies UsageReport);
  });

  routes.get('/usage/requests', async (request, response) => {
    const { before, limit, ...filter } = parse(requestsQuery, request.query);
    const { requests, next } = await usage.requests(await viewerOf(response), filter, limit, before);
    response.json({ requests: await nameRequests(parts.namesOf)(requests), ...(next !== undefined && { next }) });
  });

  routes.get('/usage/export', async (request, response) => {
    const { format, from, to, ...filter } = parse(exportQuery, request.query);
    const records = usage.export(await viewerOf(response), filter, from, to);
    await exportUsage(response, format, records, nameRequests(parts.namesOf));
  });

  routes.get('/usage/now', async (_, response) => {
    const parties = await limitedParties(await viewerOf(response));
    const uses = await limits.read(parties);
    response.json(uses.map((use, index) => limitUse(use, parties[index]?.name ?? use.party)));
  });

  routes.use(refusalRoutes(parts));
  routes.use(priceRoutes(parts));
  return routes;
}

function inDollars(totals: UsageTotals): Totals {
  return { ...totals, cost: toDollars(totals.cost) };
}

/** A party's use of each of its limits, in the units that people count in. Reservations of running requests count as used. */
function limitUse(use: PartyUse, name: string): LimitUse {
  const limits = limitNames.flatMap((limitName) => {
    const measured = measure(limitName, use, { tokens: 0, cost: 0 });
    const set = use.limits[limitName];
    if (!measured || set === undefined) return [];
    const { spent, reserved, unit, resetsAt } = measured;
    return [
      { name: limitName, limit: set, used: (spent + reserved) / unit, ...(resetsAt !== undefined && { resetsAt }) },
    ];
  });
  return { party: use.party, name, limits };
}
