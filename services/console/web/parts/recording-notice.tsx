import { Alert, Text } from '@mantine/core';
import type { RecordingSwitchAnswer } from '../../contract/recordings.ts';
import { useApi } from '../api/use-api.ts';
import { formatDateTime } from './format.ts';

/** Tells people that requests of theirs are recorded, who has switched it on and since when. To all others it says nothing. */
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
    </Alert>
  );
}
