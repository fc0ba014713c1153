import type { SessionModel } from '../../../contract/agent-sessions.ts';
import type { Column } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { cacheHits } from './session-figures.ts';

/** Returns the columns for sums of turns, for a table of any rows with such sums. */
export function sumColumns<Row>(sumsOf: (row: Row) => SessionModel['sums']) {
  const turns: Column<Row> = {
    label: 'Turns',
    render: (row) => formatCount(sumsOf(row).requests),
    sortBy: (row) => sumsOf(row).requests,
    isNumber: true,
  };
  const tokens: Column<Row> = {
    label: 'Tokens',
    render: (row) => `${formatShort(sumsOf(row).promptTokens)} → ${formatShort(sumsOf(row).completionTokens)}`,
    sortBy: (row) => sumsOf(row).promptTokens + sumsOf(row).completionTokens,
    isNumber: true,
  };
  const hits: Column<Row> = {
    label: 'Cache hits',
    render: (row) => cacheHits(sumsOf(row)),
    sortBy: (row) => {
      const { promptTokens, cachedTokens } = sumsOf(row);
      return promptTokens === 0 ? undefined : cachedTokens / promptTokens;
    },
    isNumber: true,
  };
  const cost: Column<Row> = {
    label: 'Cost',
    render: (row) => formatMoney(sumsOf(row).cost),
    sortBy: (row) => sumsOf(row).cost,
    isNumber: true,
  };
  return { turns, tokens, hits, cost };
}
