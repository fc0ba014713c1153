import { Group, Text } from '@mantine/core';
import type { UsageOverview } from '../../../contract/usage.ts';
import { formatClock, formatCount, formatDateTime } from '../../parts/format.ts';

const height = 100;

/** Shows a bar for each step, with the number of requests and of failed ones. A bar shows its numbers when the pointer is on it. */
export function SpanBars({ overview: { times, steps, stepMs, totals } }: { overview: UsageOverview }) {
  const top = Math.max(1, ...steps.map(({ requests }) => requests));
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  const label = times.length * stepMs > 86_400_000 ? formatDateTime : formatClock;
  const summary = `${formatCount(totals.requests)} requests in ${times.length} steps, ${formatCount(top)} at most in one`;
  return (
    <figure style={{ margin: 0 }}>
      <svg
        className="bars"
        viewBox={`0 0 ${times.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={summary}
      >
        {times.map((time, index) => {
          const { requests = 0, failed = 0 } = steps[index] ?? {};
          const all = (requests / top) * height;
          const bad = (failed / top) * height;
          return (
            <g key={time}>
              <title>{`${formatDateTime(time)}: ${formatCount(requests)} requests, ${formatCount(failed)} failed`}</title>
              <rect x={index} y={0} width={1} height={height} fill="transparent" />
              <rect className="bars-all" x={index + 0.1} y={height - all} width={0.8} height={Math.max(0, all - bad)} />
              <rect className="bars-failed" x={index + 0.1} y={height - bad} width={0.8} height={bad} />
            </g>
          );
        })}
      </svg>
      <Group justify="space-between" component="figcaption">
        <Text size="xs" c="dimmed">
          {label(first)}
        </Text>
        <Text size="xs" c="dimmed">
          <span className="waterfall-mark stage-answering" aria-hidden="true" />
          up to {formatCount(top)} requests{' '}
          <span className="waterfall-mark" style={{ background: '#d55e00' }} aria-hidden="true" />
          failed
        </Text>
        <Text size="xs" c="dimmed">
          {label(last)}
        </Text>
      </Group>
    </figure>
  );
}
