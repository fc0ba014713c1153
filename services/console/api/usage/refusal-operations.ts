import { widenToUnits } from '#shared/accounts/periods.ts';
import type { RefusalSample as StoredSample } from '#shared/accounts/ledger/refusals/refusal-sample.ts';
import { refusalReportSchema } from '../../contract/refusals.ts';
import { operation, type Operation } from '../operations/operation.ts';
import { nameSenders } from './name-senders.ts';
import type { UsageParts } from './usage-parts.ts';
import { refusalQuery } from './usage-query.ts';

/** The maximum number of rows in a group of a report. Each group keeps its largest rows. */
const maxRows = 10;

/** Returns the operations on refused requests. No other operation on usage counts these requests. */
export function refusalOperations(parts: Pick<UsageParts, 'usage' | 'refusals' | 'viewerOf' | 'namesOf'>): Operation[] {
  const { refusals, viewerOf } = parts;
  return [
    operation({
      method: 'get',
      path: '/usage/refusals',
      id: 'getRefusals',
      subject: 'usage',
      summary:
        'Returns the numbers of requests that were refused before a worker got them, and a few of the newest of these requests.',
      scopes: ['read'],
      command: 'usage refusals',
      form: { hidden: ['times', 'steps'] },
      query: refusalQuery,
      answer: refusalReportSchema,
      handle: async ({ actor, query: { from, to, step, by, ...filter } }) => {
        const viewer = viewerOf(actor);
        const [{ times, groups, total }, samples] = await Promise.all([
          refusals.readReport({ viewer, from, to, step, by, filter }),
          refusals.listSamples({ viewer, from, to, filter }),
        ]);
        const shown = groups.map(({ rows, ...group }) => ({ ...group, rows: rows.slice(0, maxRows) }));
        const senderOf = await nameSenders(parts, [...shown.flatMap(({ rows }) => rows), ...samples.map(toSender)]);
        return {
          ...widenToUnits(step, { from, to }),
          step,
          times: [...times],
          groups: shown.map(({ rows, steps, ...group }) => {
            const [first] = rows;
            const { key, owner } = first ? senderOf(first) : {};
            const name = by === 'code' ? group.id : (by === 'key' ? key : owner)?.name;
            const named = rows.map((row) => ({ code: row.code, count: row.count, ...senderOf(row) }));
            return { ...group, steps: [...steps], name: group.id === '' ? 'none' : (name ?? group.id), rows: named };
          }),
          total,
          samples: samples.map((sample) => {
            const { at, id, code, status, model, message } = sample;
            return { at, id, code, status, ...senderOf(toSender(sample)), model, message };
          }),
        };
      },
    }),
  ];
}

function toSender({ key = '', owner }: StoredSample): { key: string; user: string; team: string } {
  const user = owner?.kind === 'user' ? owner.id : '';
  return { key, user, team: owner?.kind === 'team' ? owner.id : '' };
}
