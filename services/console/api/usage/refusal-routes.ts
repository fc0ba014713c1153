import { Router } from 'express';
import type { RefusalSample as StoredSample } from '#shared/accounts/refusals/refusal-sample.ts';
import type { RefusalReport } from '../../contract/usage.ts';
import { parse } from '../parse.ts';
import { nameRefusals } from './name-refusals.ts';
import { refusalQuery } from './refusal-query.ts';
import type { UsageParts } from './usage-parts.ts';

/** The largest parts of a group that are named. */
const mostRows = 10;

/** `GET /usage/refusals`, for signed-in people. */
export function refusalRoutes(parts: Pick<UsageParts, 'usage' | 'refusals' | 'viewerOf' | 'namesOf'>): Router {
  const { refusals, viewerOf } = parts;
  const routes = Router();

  routes.get('/usage/refusals', async (request, response) => {
    const { from, to, step, by, ...filter } = parse(refusalQuery, request.query);
    const viewer = await viewerOf(response);
    const [{ times, groups, total }, samples] = await Promise.all([
      refusals.report({ viewer, from, to, step, by, filter }),
      refusals.samples({ viewer, from, to, filter }),
    ]);
    const shown = groups.map(({ rows, ...group }) => ({ ...group, rows: rows.slice(0, mostRows) }));
    const whoOf = await nameRefusals(parts, [...shown.flatMap(({ rows }) => rows), ...samples.map(whoIn)]);
    response.json({
      step,
      times,
      groups: shown.map(({ rows, ...group }) => {
        const [first] = rows;
        const { key, owner } = first ? whoOf(first) : {};
        const name = by === 'code' ? group.id : (by === 'key' ? key : owner)?.name;
        const named = rows.map((row) => ({ code: row.code, count: row.count, ...whoOf(row) }));
        return { ...group, name: group.id === '' ? 'none' : (name ?? group.id), rows: named };
      }),
      total,
      samples: samples.map((sample) => {
        const { at, id, code, status, model, message } = sample;
        return { at, id, code, status, ...whoOf(whoIn(sample)), model, message };
      }),
    } satisfies RefusalReport);
  });

  return routes;
}

function whoIn({ key = '', owner }: StoredSample): { key: string; user: string; team: string } {
  const user = owner?.kind === 'user' ? owner.id : '';
  return { key, user, team: owner?.kind === 'team' ? owner.id : '' };
}
