import { Group, Text, VisuallyHidden } from '@mantine/core';
import type { UsageRequest } from '../../../contract/usage.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatDuration } from '../../parts/format.ts';
import { toTimeline, computeTokensPerSecond, type TimelineRow } from './to-timeline.ts';

const stageNames = {
  waiting: 'In the queue',
  offered: 'Offer',
  working: 'Until the first token',
  answering: 'Answer',
} as const;

/** Shows when a request waited, was offered or claimed, began and ended, with a line for each attempt. */
export function Waterfall({ request }: { request: UsageRequest }) {
  const rows = toTimeline(request);
  const endMs = Math.max(request.totalMs, ...rows.flatMap(({ stages }) => stages.map(({ to }) => to)), 0.1);
  const rate = computeTokensPerSecond(request);
  const shownStages = new Set(rows.flatMap(({ stages }) => stages.map(({ name }) => name)));
  return (
    <figure className="waterfall" aria-label="Course of the request">
      <Group gap="md" mb={4}>
        {(Object.keys(stageNames) as (keyof typeof stageNames)[])
          .filter((name) => shownStages.has(name))
          .map((name) => (
            <Text key={name} size="xs" component="span">
              <span className={`waterfall-mark stage-${name}`} aria-hidden="true" />
              {stageNames[name]}
            </Text>
          ))}
        {rate === undefined ? null : (
          <Text size="xs" c="dimmed" component="span">
            {rate} tokens per second
          </Text>
        )}
      </Group>
      <ol className="plain-list" aria-label="Attempts">
        {rows.map((row, index) => (
          <li key={index}>
            <Text size="sm" component="div" className="break">
              {row.label} <Ending row={row} />
            </Text>
            <div className="waterfall-line" aria-hidden="true">
              {row.stages.map(({ name, from, to }) => (
                <span
                  key={name}
                  className={`stage-${name}`}
                  style={{
                    insetInlineStart: `${(from / endMs) * 100}%`,
                    width: `max(2px, ${((to - from) / endMs) * 100}%)`,
                  }}
                />
              ))}
            </div>
            <Text size="xs" c="dimmed">
              {row.stages.map(({ name, from, to }) => `${stageNames[name]} ${formatDuration(to - from)}`).join(' · ')}
            </Text>
          </li>
        ))}
      </ol>
      <VisuallyHidden>Ended after {formatDuration(request.totalMs)}.</VisuallyHidden>
    </figure>
  );
}

const endingTexts: Record<string, string> = {
  done: 'served the request',
  cancelled: 'was cancelled',
  refused: 'did not take the offer',
};

function Ending({ row: { end } }: { row: TimelineRow }) {
  if (end === undefined) return null;
  const endingText = endingTexts[end];
  return (
    <Text span size="sm" c="dimmed" title={endingText === undefined ? toErrorSentence(end) : undefined}>
      {endingText ?? `failed: ${end}`}
    </Text>
  );
}
