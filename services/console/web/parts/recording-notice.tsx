import { Alert, Text } from '@mantine/core';
import type { RecordingSwitchAnswer } from '../../contract/recordings.ts';
import { useApi } from '../api/use-api.ts';
import { formatDateTime } from './format.ts';

export const tracedSentence =
  'The messages are also sent to the collector of traces: who reads them there, and how long they are kept, is up to whoever runs the collector.';

/**
 * Shows which of the person's keys and teams are recorded, since when, and by whom recording was switched on. Also says whether the
 * messages go to a collector of traces. Renders nothing if no requests of the person are recorded.
 */
export function RecordingNotice() {
  const { data: switches = [] } = useApi<RecordingSwitchAnswer[]>('/recording-switches');
  if (switches.length === 0) return null;
  return (
    <Alert
      color="orange"
      variant="outline"
      title="Prompts and answers are recorded"
      role="note"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      {switches.map(({ of, id, name, by, since }) => (
        <Text key={id} size="sm">
          Requests with {of === 'team' ? `any key of the team ${name}` : `the key ${name}`}, since{' '}
          {formatDateTime(since)}
          {by === undefined ? '' : `, switched on by ${by}`}.
        </Text>
      ))}
      {switches.some(({ traced }) => traced) ? <Text size="sm">{tracedSentence}</Text> : null}
    </Alert>
  );
}
