import { Alert, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RegistryState } from '../../../../contract/registry.ts';
import { useApi } from '../../../api/use-api.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { RegistryEditor } from './registry-editor.tsx';
import { RegistryHistory } from './registry-history.tsx';

/** Milliseconds between two fetches of the registry, because other people may store versions. */
const fetchEveryMs = 5_000;

/** Shows the registry. It can be edited here, unless it is the file that `ROUTER_CONFIG` names. */
export function Registry() {
  const registry = useApi<RegistryState>('/registry', { everyMs: fetchEveryMs });
  return (
    <Loaded query={registry} contentName="the registry">
      {(state) => (state.readOnly ? <FileRegistry state={state} /> : <StoredRegistry state={state} />)}
    </Loaded>
  );
}

function StoredRegistry({ state }: { state: RegistryState }) {
  const { version, inUse } = state;
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Text size="sm" c="dimmed" maw="46rem">
          Model names of your own, the models that each name stands for with their weights, and the models that auto may
          use. All nodes apply an edit within a second.
        </Text>
        {inUse === undefined ? null : (
          <Notice title={`Version ${version} is not in use`}>
            {inUse === 0
              ? 'This node can read neither this version nor an earlier one, and uses no names and rules. '
              : `This node cannot read this version, and uses version ${inUse}. `}
            A node of a newer release may have stored this version. The log of the ingress names the fields.
          </Notice>
        )}
        <RegistryEditor state={state} />
      </Stack>
      <RegistryHistory state={state} />
    </Stack>
  );
}

function FileRegistry({ state: { config } }: { state: RegistryState }) {
  return (
    <Stack gap="sm">
      <Notice title="The registry is a file">
        The registry is in the file that ROUTER_CONFIG names, and can only be read here. Edit the file, or run the
        router without ROUTER_CONFIG to edit names and rules here. Other sections of the file are not shown.
      </Notice>
      <CodeBlock label="registry" code={JSON.stringify(config, null, 2)} />
    </Stack>
  );
}

function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Alert
      color="orange"
      variant="outline"
      title={title}
      role="note"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Text size="sm">{children}</Text>
    </Alert>
  );
}
