import { Title } from '@mantine/core';
import type { SessionSums } from '../../../contract/agent-sessions.ts';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { Tile } from '../../parts/tile.tsx';
import { formatCacheHits } from './session-figures.ts';
import { TimeBar, TimeLegend } from './time-bar.tsx';

export interface SumsViewProps {
  sums: SessionSums;
  countTile: { name: string; count: number; detail: string };
}

export function SumsView({ sums, countTile }: SumsViewProps) {
  return (
    <>
      <div className="tiles">
        <Tile name={countTile.name} value={formatCount(countTile.count)}>
          {countTile.detail}
        </Tile>
        <Tile name="Tokens in" value={formatShort(sums.promptTokens)}>
          {formatCacheHits(sums)} from a cache
        </Tile>
        <Tile name="Tokens out" value={formatShort(sums.completionTokens)}>
          {formatShort(sums.reasoningTokens)} of them thinking
        </Tile>
        <Tile name="Cost" value={formatMoney(sums.cost)}>
          by the price table
        </Tile>
      </div>
      <section className="panel">
        <Title order={2} size="h3" mb="xs">
          Where the time went
        </Title>
        <TimeBar time={sums} />
        <TimeLegend time={{ ...sums, toolMs: sums.toolMs === 0 ? undefined : sums.toolMs }} />
      </section>
    </>
  );
}
