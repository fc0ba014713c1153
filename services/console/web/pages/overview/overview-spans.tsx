import { Button } from '@mantine/core';
import { Link } from 'wouter';

export const overviewSpans = { '1h': '1 h', '24h': '24 h', '7d': '7 d' } as const;
export type OverviewSpan = keyof typeof overviewSpans;

/** Returns the span in the URL; undefined if there is none, so that the overview shows the current state. */
export function readSpan(search: URLSearchParams): OverviewSpan | undefined {
  const requestedSpan = search.get('span');
  return (Object.keys(overviewSpans) as OverviewSpan[]).find((span) => span === requestedSpan);
}

export function OverviewSpans({ chosen }: { chosen: OverviewSpan | undefined }) {
  return (
    <Button.Group aria-label="Time">
      {[undefined, ...(Object.keys(overviewSpans) as OverviewSpan[])].map((span) => (
        <Button
          key={span ?? 'now'}
          component={Link}
          href={span === undefined ? '/' : `/?span=${span}`}
          variant={span === chosen ? 'filled' : 'default'}
          aria-current={span === chosen ? 'true' : undefined}
        >
          {span === undefined ? 'Now' : overviewSpans[span]}
        </Button>
      ))}
    </Button.Group>
  );
}
