import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Sparkline } from '../../parts/sparkline.tsx';

export interface TileProps {
  name: string;
  value: string;
  /** Values of the last minute, oldest first. */
  series?: readonly number[];
  isBad?: boolean;
  /** Says more in a few words. */
  children: ReactNode;
}

/** One number, and how it came about. */
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
