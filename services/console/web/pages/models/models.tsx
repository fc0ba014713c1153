import { Alert, Button, Chip, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { RouterFacts, ServedModel } from '../../../contract/live.ts';
import { canGenerate } from '../../parts/operations.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { formatTokens } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { findServedFormats } from '../../formats/web-formats.ts';
import { listCapabilities, findModels, listUnpriced, type ModelSearch } from './find-models.ts';
import { Capabilities, ModelName, Operations, Prices, ServedBy, Speed } from './model-facts.tsx';
import { Snippets } from './snippets.tsx';

const columns: readonly [Column<ServedModel>, ...Column<ServedModel>[]] = [
  { label: 'Model', render: (model) => <ModelName model={model} />, sortBy: ({ id }) => id },
  {
    label: 'Served by',
    render: (model) => <ServedBy model={model} />,
    sortBy: ({ servedBy }) => servedBy.reduce((sum, { workers }) => sum + workers, 0),
  },
  {
    label: 'Price per million tokens',
    render: (model) => <Prices model={model} />,
    sortBy: ({ servedBy }) => findLeast(servedBy.map(({ price }) => price?.output)),
  },
  {
    label: 'Speed',
    render: (model) => <Speed model={model} />,
    sortBy: ({ servedBy }) => findGreatest(servedBy.map(({ speed }) => speed?.tokensPerSecond)),
  },
  {
    label: 'Operations',
    render: (model) => <Operations model={model} />,
    sortBy: ({ operations }) => operations.length,
  },
  {
    label: 'Capabilities',
    render: ({ capabilities }) => <Capabilities names={capabilities} />,
    sortBy: ({ capabilities }) => capabilities.length,
  },
  {
    label: 'Context window',
    render: ({ contextWindow }) => describeTokens(contextWindow),
    sortBy: ({ contextWindow }) => contextWindow,
    isNumber: true,
  },
  {
    label: 'Max output tokens',
    render: ({ maxOutput }) => describeTokens(maxOutput),
    sortBy: ({ maxOutput }) => maxOutput,
    isNumber: true,
  },
];

export function Models() {
  const models = useApi<ServedModel[]>('/models', { everyMs: 15_000 });
  const routerFacts = useApi<RouterFacts>('/about');
  const [modelToShow, setModelToShow] = useState<ServedModel>();
  return (
    <Page title="Models" description="The models that clients can ask for right now, with code to copy.">
      <Loaded query={models} contentName="the models">
        {(list) =>
          list.length === 0 ? (
            <EmptyPanel title="No models yet">
              Start a worker for an engine, a command-line agent or a cloud provider: <Code>rtr worker gpu</Code>. See{' '}
              <Code>docs/configuration.md</Code>.
            </EmptyPanel>
          ) : (
            <FoundModels models={list} onShowSnippets={setModelToShow} />
          )
        }
      </Loaded>
      <Modal
        opened={modelToShow !== undefined}
        onClose={() => setModelToShow(undefined)}
        title={`How to use ${modelToShow?.id ?? ''}`}
        size="xl"
      >
        {modelToShow ? (
          <Loaded query={routerFacts} contentName="the addresses">
            {(facts) => <Snippets model={modelToShow.id} formats={findServedFormats(facts)} />}
          </Loaded>
        ) : null}
      </Modal>
    </Page>
  );
}

function FoundModels({
  models,
  onShowSnippets,
}: {
  models: readonly ServedModel[];
  onShowSnippets: (model: ServedModel) => void;
}) {
  const [search, setSearch] = useState<ModelSearch>({ text: '', capabilities: [] });
  const foundModels = useMemo(() => findModels(models, search), [models, search]);
  return (
    <Stack gap="sm">
      <UnpricedNotice names={listUnpriced(models)} />
      <TextInput
        label="Search"
        placeholder="Model, tier or operation"
        maw="20rem"
        value={search.text}
        onChange={({ currentTarget }) => setSearch({ ...search, text: currentTarget.value })}
      />
      <Chip.Group
        multiple
        value={[...search.capabilities]}
        onChange={(capabilities) => setSearch({ ...search, capabilities })}
      >
        <Group gap="xs" role="group" aria-label="Capabilities that are needed">
          {listCapabilities(models).map((name) => (
            <Chip key={name} value={name} size="xs" variant="outline">
              {name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {foundModels.length === 0 ? (
        <EmptyPanel title="No model matches">None of the {models.length} models passes the filters.</EmptyPanel>
      ) : (
        <DataList
          label="Models"
          rows={foundModels}
          getId={({ id }) => id}
          columns={columns}
          address=""
          hasOwnFilters
          actions={(model) => (canGenerate(model) ? <Actions model={model} onShowSnippets={onShowSnippets} /> : null)}
        />
      )}
    </Stack>
  );
}

function Actions({ model, onShowSnippets }: { model: ServedModel; onShowSnippets: (model: ServedModel) => void }) {
  return (
    <Group gap="xs" justify="flex-end">
      {model.notPermitted ? null : (
        <Button
          component={Link}
          href={`/playground?model=${encodeURIComponent(model.id)}`}
          size="xs"
          variant="default"
          aria-label={`Try it: ${model.id}`}
        >
          Try it
        </Button>
      )}
      <Button size="xs" variant="default" aria-label={`How to use ${model.id}`} onClick={() => onShowSnippets(model)}>
        How to use
      </Button>
    </Group>
  );
}

/** Maximum number of models without a price that the notice names. */
const maxNamedModels = 10;

function UnpricedNotice({ names }: { names: readonly string[] }) {
  const isAdmin = useIsAdmin();
  if (names.length === 0) return null;
  const hiddenCount = names.length - maxNamedModels;
  return (
    <Alert
      title={names.length === 1 ? 'A model has no price' : `${names.length} models have no price`}
      variant="outline"
      color="yellow"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Text size="sm" className="break">
        No cost is counted for {names.slice(0, maxNamedModels).join(', ')}
        {hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}, and limits of cost do not count these models.{' '}
        {isAdmin ? <Link href="/admin/prices">Set prices</Link> : 'Administrators can set prices.'}
      </Text>
    </Alert>
  );
}

function describeTokens(tokens: number | undefined): string {
  return tokens === undefined ? 'unknown' : formatTokens(tokens);
}

function findLeast(numbers: readonly (number | undefined)[]): number | undefined {
  const knownNumbers = numbers.filter((number) => number !== undefined);
  return knownNumbers.length === 0 ? undefined : Math.min(...knownNumbers);
}

function findGreatest(numbers: readonly (number | undefined)[]): number | undefined {
  const knownNumbers = numbers.filter((number) => number !== undefined);
  return knownNumbers.length === 0 ? undefined : Math.max(...knownNumbers);
}
