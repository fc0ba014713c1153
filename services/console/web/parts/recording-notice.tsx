import { Alert, Text } from '@mantine/core';
import type { RecordingSwitchAnswer } from '../../contract/recordings.ts';
import { useApi } from '../api/use-api.ts';
import { formatDateTime } from './format.ts';

export const tracedSentence =
  'The messages are also sent to the collector of traces: who reads them there, and how long they are kept, is up to whoever runs the collector.';

/**
 * Tells people whose requests are recorded who has switched recording on, since when, and who else gets the requests. Renders nothing for
 * people whose requests are not recorded.
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
