import { Badge, Button, Code, Group, Modal, Text } from '@mantine/core';
import { useState } from 'react';
import type { About, ServedModel } from '../../../contract/live.ts';
import { generates, operationLabels } from '../../parts/operations.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { formatTokens } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { TierMark } from '../../parts/tier-mark.tsx';
import { servedFormats } from '../../formats/web-formats.ts';
import { Snippets } from './snippets.tsx';

/** The models that clients can ask for, who serves them, and code to use them. */
export function Models() {
  const models = useApi<ServedModel[]>('/models', { everyMs: 15_000 });
  const about = useApi<About>('/about');
  const [chosen, choose] = useState<ServedModel>();
  return (
    <Page title="Models" about="The models that clients can ask for right now, with code to copy.">
      <Loaded query={models} what="the models">
        {(list) =>
          list.length === 0 ? (
            <section className="panel">
              <Empty title="No models yet">
                Start a worker for an engine, a command-line agent or a cloud provider: <Code>npx rtr worker gpu</Code>.
                See <Code>docs/configuration.md</Code>.
              </Empty>
            </section>
          ) : (
            <DataList
              label="Models"
              rows={list}
              idOf={({ id }) => id}
              columns={[
                { label: 'Model', render: (model) => <Name model={model} /> },
                { label: 'Served by', render: (model) => <ServedBy model={model} /> },
                { label: 'Operations', render: ({ operations }) => operationLabels(operations) },
                { label: 'Capabilities', render: ({ capabilities }) => <Capabilities names={capabilities} /> },
                {
                  label: 'Context window',
                  render: ({ contextWindow }) =>
                    contextWindow === undefined ? 'unknown' : formatTokens(contextWindow),
                  isNumber: true,
                },
                {
                  label: 'Max output tokens',
                  render: ({ maxOutput }) => (maxOutput === undefined ? 'unknown' : formatTokens(maxOutput)),
                  isNumber: true,
                },
              ]}
              actions={(model) =>
                generates(model) ? (
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={`How to use ${model.id}`}
                    onClick={() => choose(model)}
                  >
                    How to use
                  </Button>
                ) : null
              }
            />
          )
        }
      </Loaded>
      <Modal
        opened={chosen !== undefined}
        onClose={() => choose(undefined)}
        title={`How to use ${chosen?.id ?? ''}`}
        size="xl"
      >
        {chosen ? (
          <Loaded query={about} what="the addresses">
            {(found) => <Snippets model={chosen.id} formats={servedFormats(found)} />}
          </Loaded>
        ) : null}
      </Modal>
    </Page>
  );
}

function Name({ model: { id, kind, notPermitted } }: { model: ServedModel }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600} className="break">
        {id}
      </Text>
      {kind === 'auto' ? <Badge variant="default">any suitable model</Badge> : null}
      {kind === 'registered' ? <Badge variant="default">registered name</Badge> : null}
      {notPermitted ? <Badge color="gray">not permitted to you</Badge> : null}
    </Group>
  );
}

function ServedBy({ model: { kind, servedBy } }: { model: ServedModel }) {
  return (
    <>
      {servedBy.map(({ tier, workers, models }) => (
        <Text key={tier} size="sm" component="div" {...(kind === 'model' ? {} : { title: models.join(', ') })}>
          <TierMark tier={tier} /> {workers} {workers === 1 ? 'worker' : 'workers'}
        </Text>
      ))}
    </>
  );
}

function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} variant="default" fw={500}>
          {name}
        </Badge>
      ))}
    </Group>
  );
}
