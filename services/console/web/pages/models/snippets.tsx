import { Stack, Tabs, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { CodeBlock } from '../../parts/copy.tsx';

export function Snippets({ model, formats }: { model: string; formats: readonly ServedFormat[] }) {
  const { origin } = window.location;
  const snippets = formats.flatMap((format) => format.snippets(model, `${origin}${format.base}`));
  return (
    <Stack gap="sm">
      <Text size="sm">
        First set the variable <code>RTR_KEY</code> to a key. Create a key under <Link href="/keys">API keys</Link>.
      </Text>
      <Tabs defaultValue={snippets[0]?.id ?? null} keepMounted={false}>
        <Tabs.List aria-label="Client" mb="sm">
          {snippets.map(({ id, name }) => (
            <Tabs.Tab key={id} value={id}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {snippets.map(({ id, name, purpose, code }) => (
          <Tabs.Panel key={id} value={id}>
            <Text size="sm" c="dimmed" mb="xs">
              {purpose}
            </Text>
            <CodeBlock code={code} label={`the code for ${name}`} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}
