import { Button, Group, Stack, Text } from '@mantine/core';
import { CodeBlock } from '../../parts/copy.tsx';

/** A secret on the one occasion on which it can be seen. */
export function ShownOnce({ raw, onDone }: { raw: string; onDone: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Copy it now and keep it in a safe place: it is shown only this once, and only a digest of it is stored.
      </Text>
      <CodeBlock wrap code={raw} label="the key" />
      <Text size="sm">For a shell:</Text>
      <CodeBlock wrap code={`export RTR_KEY=${raw}`} label="the line for a shell" />
      <Group justify="flex-end">
        <Button onClick={onDone}>I have copied it</Button>
      </Group>
    </Stack>
  );
}
