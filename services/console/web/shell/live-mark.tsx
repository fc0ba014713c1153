import { Group, Text, Tooltip } from '@mantine/core';
import { useLive } from '../api/use-live.ts';

const words = {
  connecting: ['Connecting', 'Connecting to the router for live news.'],
  live: ['Live', 'What you see is how things are right now.'],
  lost: ['Offline', 'The connection to the router is lost; it is being tried again. What you see may be old.'],
} as const;

/** Whether what is shown is how things are right now. */
export function LiveMark() {
  const { connection } = useLive();
  const [word, sentence] = words[connection];
  return (
    <Tooltip label={sentence} multiline maw="18rem">
      <Group gap={6} wrap="nowrap" role="status" tabIndex={0} aria-label={`${word}. ${sentence}`}>
        <span className="pulse-dot" data-connection={connection} aria-hidden="true" />
        <Text size="xs" c="dimmed" visibleFrom="xs">
          {word}
        </Text>
      </Group>
    </Tooltip>
  );
}
