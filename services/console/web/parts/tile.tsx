import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

export interface TileProps {
  name: string;
  value: string;
  /** Values over time, oldest first. */
  series?: readonly number[];
  isBad?: boolean;
  children: ReactNode;
}

export function Tile({ name, value, series, isBad = false, children }: TileProps) {
  return (
    <section className="panel" aria-label={name}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz="1.6rem" fw={600} lh={1.3} className="numeric" {...(isBad ? { c: 'var(--mantine-color-error)' } : {})}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {children}
      </Text>
      {series ? <Sparkline values={series} /> : null}
    </section>
  );
}

/** A small chart of values over time. It is hidden from screen readers, because the text beside it has the numbers. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const maxValue = Math.max(...values, 1e-9);
  const points = values.map((value, index) => `${index},${(40 - (value / maxValue) * 38).toFixed(2)}`);
  const last = values.length - 1;
  return (
    <svg className="spark" viewBox={`0 0 ${last} 40`} preserveAspectRatio="none" aria-hidden="true">
      <path className="spark-area" d={`M0,40L${points.join('L')}L${last},40Z`} />
      <path className="spark-line" d={`M${points.join('L')}`} />
    </svg>
  );
}
