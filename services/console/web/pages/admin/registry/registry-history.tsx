import { Badge, Button, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { RegistryState, RegistryVersion, RegistryVersionFacts } from '../../../../contract/registry.ts';
import { callApi } from '../../../api/call-api.ts';
import { useApi, useChange } from '../../../api/use-api.ts';
import { DataList } from '../../../parts/data-list.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { formatDateTime } from '../../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../../parts/loaded.tsx';
import { LineDiff } from './line-diff.tsx';

export function RegistryHistory({ state }: { state: RegistryState }) {
  const versions = useApi<RegistryVersionFacts[]>('/registry/versions');
  const [comparedVersion, setComparedVersion] = useState<RegistryVersionFacts>();
  const revert = useChange(
    ({ version }: RegistryVersionFacts) => callApi<RegistryState>('POST', '/registry/revert', { version }),
    ['/registry'],
  );
  return (
    <Stack gap="xs">
      <Title order={2}>History</Title>
      {revert.error ? <Failure title="The registry was not reverted" error={revert.error} /> : null}
      <Text size="sm" role="status">
        {revert.isSuccess
          ? `Version ${revert.data.version} has the text of version ${revert.variables.version} again.`
          : null}
      </Text>
      <Loaded query={versions} contentName="the history">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No versions yet">Every edit that is saved appears here.</EmptyPanel>
          ) : (
            <DataList
              label="Versions"
              rows={list}
              getId={({ version }) => String(version)}
              columns={[
                {
                  label: 'Version',
                  render: (facts) => <VersionName facts={facts} newest={state.version} />,
                  sortBy: ({ version }) => version,
                  search: ({ version }) => `version ${version}`,
                },
                { label: 'Time', sortBy: ({ at }) => at, format: formatDateTime },
                { label: 'Stored by', sortBy: ({ by }) => by.name },
                {
                  label: 'What has changed',
                  render: (facts) => <span className="break">{describeChange(facts)}</span>,
                  sortBy: describeChange,
                },
              ]}
              address=""
              actions={(facts) =>
                state.readOnly || facts.version === state.version ? null : (
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Compare version ${facts.version}`}
                      onClick={() => setComparedVersion(facts)}
                    >
                      Compare
                    </Button>
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Revert to version ${facts.version}`}
                      loading={revert.isPending && revert.variables.version === facts.version}
                      onClick={() => revert.mutate(facts)}
                    >
                      Revert
                    </Button>
                  </Group>
                )
              }
            />
          )
        }
      </Loaded>
      <Modal
        opened={comparedVersion !== undefined}
        onClose={() => setComparedVersion(undefined)}
        title={`What reverting to version ${comparedVersion?.version ?? ''} changes`}
        size="xl"
      >
        {comparedVersion ? <Comparison version={comparedVersion.version} current={state.text ?? ''} /> : null}
      </Modal>
    </Stack>
  );
}

function Comparison({ version, current }: { version: number; current: string }) {
  const versionQuery = useApi<RegistryVersion>(`/registry/versions/${version}`);
  return (
    <Loaded query={versionQuery} contentName={`version ${version}`}>
      {({ text }) => <LineDiff earlier={current} later={text} label="Changes" />}
    </Loaded>
  );
}

function VersionName({ facts: { version }, newest }: { facts: RegistryVersionFacts; newest: number }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {version}
      </Text>
      {version === newest ? <Badge variant="default">newest</Badge> : null}
    </Group>
  );
}

function describeChange({ note, revertOf }: RegistryVersionFacts): string {
  if (revertOf !== undefined) return `Reverted to version ${revertOf}`;
  return note ?? '–';
}
