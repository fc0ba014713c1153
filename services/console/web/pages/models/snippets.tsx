import { Stack, Tabs, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { About } from '../../../contract/live.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { snippetsFor } from './snippets-for.ts';

/** How to ask for a model, for each of the usual clients. */
export function Snippets({ model, segments }: { model: string; segments: About['segments'] }) {
  const snippets = snippetsFor(model, window.location.origin, segments);
  return (
    <Stack gap="sm">
      <Text size="sm">
        Put a key into the variable <code>RTR_KEY</code> first: make one under <Link href="/keys">API keys</Link>.
      </Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List aria-label="Client" mb="sm">
          {snippets.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, name, about, code }) => (
          <Tabs.Panel key={id} value={id}>
            <Text size="sm" c="dimmed" mb="xs">
              {about}
            </Text>
            <CodeBlock code={code} label={`the code for ${name}`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}
