import './sessions.css';
import { Group, Text } from '@mantine/core';
import { formatDuration } from '../../parts/format.ts';

/** Milliseconds of each part; `toolMs` is undefined if the client does not state it. */
export interface TimeParts {
  toolMs: number | undefined;
  queueMs: number;
  modelMs: number;
}

const parts = [
  { name: 'tools', label: 'Tools' },
  { name: 'queue', label: 'Queue' },
  { name: 'model', label: 'Model' },
] as const;

export interface TimeBarProps {
  time: TimeParts;
  /** Milliseconds that the full width represents. Default: the sum of the parts. */
  widthMs?: number;
}

/** A bar that shows how long the client's tools, the queue and the model took. */
export function TimeBar({ time, widthMs }: TimeBarProps) {
  const msByPart = { tools: time.toolMs ?? 0, queue: time.queueMs, model: time.modelMs };
  const sum = msByPart.tools + msByPart.queue + msByPart.model;
  const width = Math.max(1, widthMs ?? sum);
  return (
    <div className="time-bar" role="img" aria-label={describeTime(time)} title={describeTime(time)}>
      {parts.map(({ name }) => (
        <span key={name} className={`time-${name}`} style={{ width: `${(msByPart[name] / width) * 100}%` }} />
      ))}
    </div>
  );
}

export function TimeLegend({ time }: { time: TimeParts }) {
  const msByPart = { tools: time.toolMs, queue: time.queueMs, model: time.modelMs };
  return (
    <Group gap="md">
      {parts.map(({ name, label }) => (
        <Group key={name} gap={6} wrap="nowrap">
          <span className={`time-dot time-${name}`} aria-hidden="true" />
          <Text size="sm">
            {label}: {msByPart[name] === undefined ? 'not stated' : formatDuration(msByPart[name])}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

/** Describes the parts of the time, for example `tools 742 ms, queue 3 ms, model 1.2 s`. */
export function describeTime({ toolMs, queueMs, modelMs }: TimeParts): string {
  const tools = toolMs === undefined ? [] : [`tools ${formatDuration(toolMs)}`];
  return [...tools, `queue ${formatDuration(queueMs)}`, `model ${formatDuration(modelMs)}`].join(', ');
}
