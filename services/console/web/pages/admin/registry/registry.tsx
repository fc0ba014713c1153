import { Alert, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RegistryState } from '../../../../contract/registry.ts';
import { useApi } from '../../../api/use-api.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { RegistryEditor } from './registry-editor.tsx';
import { RegistryHistory } from './registry-history.tsx';

/** Milliseconds between two fetches of versions that others have stored. */
const lookEveryMs = 5_000;

/** Shows the registry. It can be edited here, unless it is the file that `ROUTER_CONFIG` names. */
export function Registry() {
  const registry = useApi<RegistryState>('/registry', { everyMs: lookEveryMs });
  return (
    <Loaded query={registry} contentName="the registry">
      {(state) => (state.readOnly ? <OfFile state={state} /> : <Stored state={state} />)}
    </Loaded>
  );
}

function Stored({ state }: { state: RegistryState }) {
  const { version, inUse } = state;
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Text size="sm" c="dimmed" maw="46rem">
          Names that clients ask for like models, the models that they stand for with their weights, and what auto may
          use. All nodes use an edit within a second.
        </Text>
        {inUse === undefined ? null : (
          <Notice title={`Version ${version} is not in use`}>
            {inUse === 0
              ? 'This node cannot read it, nor an earlier one, and uses no names and rules. '
              : `This node cannot read it, and uses version ${inUse}. `}
            A node of a newer release may have stored it. The log of the ingress names the fields.
          </Notice>
        )}
        <RegistryEditor state={state} />
      </Stack>
      <RegistryHistory state={state} />
    </Stack>
  );
}

function OfFile({ state: { config } }: { state: RegistryState }) {
  return (
    <Stack gap="sm">
      <Notice title="The registry is a file">
        It is the file that ROUTER_CONFIG names, and can only be read here. Edit the file, or run the router without it
        to edit names and rules here. Its other sections are not shown.
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
