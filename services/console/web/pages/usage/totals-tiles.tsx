import type { Totals } from '../../../contract/usage.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { Tile } from '../overview/tile.tsx';

/** What it came to altogether. */
export function TotalsTiles({ totals }: { totals: Totals }) {
  const { requests, failed, cancelled, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } = totals;
  return (
    <div className="tiles">
      <Tile name="Requests" value={formatCount(requests)}>
        {formatCount(failed)} failed, {formatCount(cancelled)} cancelled
      </Tile>
      <Tile name="Tokens in" value={formatShort(promptTokens)}>
        {formatShort(cachedTokens)} of them from a cache
      </Tile>
      <Tile name="Tokens out" value={formatShort(completionTokens)}>
        {formatShort(reasoningTokens)} of them thinking
      </Tile>
      <Tile name="Cost" value={formatMoney(cost)}>
        by the price table
      </Tile>
    </div>
  );
}
