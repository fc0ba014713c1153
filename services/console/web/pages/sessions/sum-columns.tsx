import type { SessionModel } from '../../../contract/agent-sessions.ts';
import type { Column } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { formatCacheHits } from './session-figures.ts';

/** Creates the columns that show sums of turns, for a table of any rows with such sums. */
export function createSumColumns<Row>(readSums: (row: Row) => SessionModel['sums']) {
  const turns: Column<Row> = {
    label: 'Turns',
    sortBy: (row) => readSums(row).requests,
    format: formatCount,
    isNumber: true,
  };
  const tokens: Column<Row> = {
    label: 'Tokens',
    render: (row) => `${formatShort(readSums(row).promptTokens)} → ${formatShort(readSums(row).completionTokens)}`,
    sortBy: (row) => readSums(row).promptTokens + readSums(row).completionTokens,
    isNumber: true,
  };
  const hits: Column<Row> = {
    label: 'Cache hits',
    render: (row) => formatCacheHits(readSums(row)),
    sortBy: (row) => {
      const { promptTokens, cachedTokens } = readSums(row);
      return promptTokens === 0 ? undefined : cachedTokens / promptTokens;
    },
    isNumber: true,
  };
  const cost: Column<Row> = { label: 'Cost', sortBy: (row) => readSums(row).cost, format: formatMoney, isNumber: true };
  return { turns, tokens, hits, cost };
}
