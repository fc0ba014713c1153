import { Group, Text } from '@mantine/core';
import type { UsageOverview } from '../../../contract/usage.ts';
import { formatClock, formatCount, formatDateTime } from '../../parts/format.ts';

const height = 100;

/** Shows a bar for each step: its requests and, as a part of them, its failed requests. The tooltip of a bar has the numbers. */
export function SpanBars({ overview: { times, steps, stepMs, totals } }: { overview: UsageOverview }) {
  const maxRequests = Math.max(1, ...steps.map(({ requests }) => requests));
  const firstTime = times[0] ?? 0;
  const lastTime = times.at(-1) ?? 0;
  const formatTime = times.length * stepMs > 86_400_000 ? formatDateTime : formatClock;
  const summary = `${formatCount(totals.requests)} requests in ${times.length} steps, ${formatCount(maxRequests)} at most in one`;
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
          const totalHeight = (requests / maxRequests) * height;
          const failedHeight = (failed / maxRequests) * height;
          return (
            <g key={time}>
              <title>{`${formatDateTime(time)}: ${formatCount(requests)} requests, ${formatCount(failed)} failed`}</title>
              <rect x={index} y={0} width={1} height={height} fill="transparent" />
              <rect
                className="bars-all"
                x={index + 0.1}
                y={height - totalHeight}
                width={0.8}
                height={Math.max(0, totalHeight - failedHeight)}
              />
              <rect
                className="bars-failed"
                x={index + 0.1}
                y={height - failedHeight}
                width={0.8}
                height={failedHeight}
              />
            </g>
          );
        })}
      </svg>
      <Group justify="space-between" component="figcaption">
        <Text size="xs" c="dimmed">
          {formatTime(firstTime)}
        </Text>
        <Text size="xs" c="dimmed">
          <span className="waterfall-mark stage-answering" aria-hidden="true" />
          up to {formatCount(maxRequests)} requests{' '}
          <span className="waterfall-mark" style={{ background: '#d55e00' }} aria-hidden="true" />
          failed
        </Text>
        <Text size="xs" c="dimmed">
          {formatTime(lastTime)}
        </Text>
      </Group>
    </figure>
  );
}
