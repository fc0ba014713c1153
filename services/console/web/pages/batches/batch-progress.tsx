import { Badge, Progress, Text } from '@mantine/core';
import type { Batch } from '../../../contract/batches.ts';
import type { ProgressRate } from '#shared/core/progress-rate.ts';
import { countsText, doneOf, rateText, stateOf } from './batch-state.ts';

export interface BatchProgressProps {
  batch: Batch;
  rate: ProgressRate | undefined;
  /** The time of the API's answer, in ms since 1970. */
  at: number;
}

export function BatchProgress({ batch, rate, at }: BatchProgressProps) {
  const { id, total, succeeded, errored, cancelled, expired } = batch;
  const done = doneOf(batch);
  const pace = rateText(batch, rate, at);
  const shareOf = (lines: number): number => (total === 0 ? 0 : (lines / total) * 100);
  return (
    <div style={{ minWidth: '12rem' }}>
      <Progress.Root>
        <Progress.Section
          value={shareOf(succeeded)}
          aria-label={`Progress of ${id}`}
          aria-valuenow={Math.round(shareOf(done))}
          aria-valuetext={`${Math.round(shareOf(done))} %`}
        />
        <Progress.Section value={shareOf(errored)} color="orange" withAria={false} />
        <Progress.Section value={shareOf(cancelled + expired)} color="gray" withAria={false} />
      </Progress.Root>
      <Text size="xs" className="numeric">
        {countsText(batch)}
      </Text>
      {pace === '' ? null : (
        <Text size="xs" c="dimmed" className="break">
          {pace}
        </Text>
      )}
    </div>
  );
}

export function BatchState({ batch }: { batch: Batch }) {
  const { word, color } = stateOf(batch);
  return (
    <Badge variant="dot" color={color}>
      {word}
    </Badge>
  );
}
