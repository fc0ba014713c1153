import { Badge, Progress, Text } from '@mantine/core';
import type { Batch } from '../../../contract/batches.ts';
import type { ProgressRate } from '#shared/core/progress-rate.ts';
import { describeCounts, countDone, describeRate, describeState } from './batch-state.ts';

export interface BatchProgressProps {
  batch: Batch;
  rate: ProgressRate | undefined;
  /** The time of the API's answer, in ms since 1970. */
  answeredAt: number;
}

export function BatchProgress({ batch, rate, answeredAt }: BatchProgressProps) {
  const { id, total, succeeded, errored, cancelled, expired } = batch;
  const doneCount = countDone(batch);
  const rateText = describeRate(batch, rate, answeredAt);
  const toPercent = (lineCount: number): number => (total === 0 ? 0 : (lineCount / total) * 100);
  return (
    <div style={{ minWidth: '12rem' }}>
      <Progress.Root>
        <Progress.Section
          value={toPercent(succeeded)}
          aria-label={`Progress of ${id}`}
          aria-valuenow={Math.round(toPercent(doneCount))}
          aria-valuetext={`${Math.round(toPercent(doneCount))} %`}
        />
        <Progress.Section value={toPercent(errored)} color="orange" withAria={false} />
        <Progress.Section value={toPercent(cancelled + expired)} color="gray" withAria={false} />
      </Progress.Root>
      <Text size="xs" className="numeric">
        {describeCounts(batch)}
      </Text>
      {rateText === '' ? null : (
        <Text size="xs" c="dimmed" className="break">
          {rateText}
        </Text>
      )}
    </div>
  );
}

export function BatchState({ batch }: { batch: Batch }) {
  const { word, color } = describeState(batch);
  return (
    <Badge variant="dot" color={color}>
      {word}
    </Badge>
  );
}
