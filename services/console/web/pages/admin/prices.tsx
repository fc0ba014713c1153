import { Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState, type SyntheticEvent } from 'react';
import type { Price } from '../../../contract/usage.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatMoney } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { NumberField } from '../../parts/number-field.tsx';

type Draft = Omit<Price, 'asOf' | 'source'>;

export function Prices() {
  const prices = useApi<Price[]>('/prices');
  const [edited, edit] = useState<Draft>();
  const [dropped, drop] = useState<Price>();
  const removal = useChange(
    ({ model }: Price) => callApi('DELETE', `/prices/${encodeURIComponent(model)}`),
    ['/prices'],
  );
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        US dollars per million tokens; per picture, second, million characters or web search where a model has such. A
        price that you set overrides the shipped table. A model without a price costs nothing.
      </Text>
      <Group align="flex-end">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => edit({ model: '', input: 0, output: 0 })}>
          Set a price
        </Button>
      </Group>
      <Loaded query={prices} contentName="the prices">
        {(list) => {
          if (list.length === 0) {
            return (
              <section className="panel">
                <Empty
                  title="No prices"
                  action={<Button onClick={() => edit({ model: '', input: 0, output: 0 })}>Set the first price</Button>}
                >
                  Usage and limits in dollars count by these prices. Set one under the name that clients ask for.
                </Empty>
              </section>
            );
          }
          return (
            <>
              <DataList
                label="Prices"
                rows={list}
                address=""
                searchLabel="Find a model"
                idOf={({ model }) => model}
                columns={[
                  {
                    label: 'Model',
                    render: (price) => <Model price={price} />,
                    sortBy: ({ model }) => model,
                    search: ({ model, source }) => (source === 'changed' ? `${model} changed` : model),
                  },
                  amount('Input', ({ input }) => input),
                  amount('Cached input', ({ cachedInput }) => cachedInput),
                  amount('Cache write', ({ cacheWrite }) => cacheWrite),
                  amount('For an hour', ({ hourCacheWrite }) => hourCacheWrite),
                  amount('Output', ({ output }) => output),
                  { label: 'Unit', render: (price) => <UnitPrices price={price} />, isNumber: true },
                  {
                    label: 'As of',
                    render: ({ asOf = 'unknown' }) => <span style={{ whiteSpace: 'nowrap' }}>{asOf}</span>,
                    sortBy: ({ asOf }) => asOf,
                    search: () => '',
                  },
                ]}
                actions={(price) => (
                  <Group gap={4} justify="flex-end" wrap="nowrap">
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Change the price of ${price.model}`}
                      onClick={() => edit(price)}
                    >
                      Change
                    </Button>
                    {price.source === 'changed' ? (
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={`Reset the price of ${price.model}`}
                        onClick={() => drop(price)}
                      >
                        Reset
                      </Button>
                    ) : null}
                  </Group>
                )}
              />
            </>
          );
        }}
      </Loaded>
      <Modal opened={edited !== undefined} onClose={() => edit(undefined)} title={edited?.model || 'Set a price'}>
        {edited ? <PriceForm key={edited.model} draft={edited} onDone={() => edit(undefined)} /> : null}
      </Modal>
      <Confirm
        title="Reset the price?"
        action="Reset price"
        change={removal}
        input={dropped}
        onClose={() => drop(undefined)}
      >
        The shipped table's price applies to {dropped?.model} again, if there is one. Past usage keeps its cost.
      </Confirm>
    </Stack>
  );
}

function amount(label: string, of: (price: Price) => number | undefined): Column<Price> {
  return { label, render: (price) => optional(of(price)), sortBy: of, isNumber: true };
}

function Model({ price: { model, source } }: { price: Price }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600} className="break">
        {model}
      </Text>
      {source === 'changed' ? <Badge variant="default">changed</Badge> : null}
    </Group>
  );
}

/** Shows the prices of units that are not tokens. */
function UnitPrices({ price: { image, second, characters, search } }: { price: Price }) {
  const parts = [
    ...(image === undefined ? [] : [`${formatMoney(image)} a picture`]),
    ...(second === undefined ? [] : [`${formatMoney(second)} a second`]),
    ...(characters === undefined ? [] : [`${formatMoney(characters)} a million characters`]),
    ...(search === undefined ? [] : [`${formatMoney(search)} a web search`]),
  ];
  return <>{parts.length === 0 ? '–' : parts.join(', ')}</>;
}

const perTokens = 'US dollars per million tokens';
const amounts = [
  { field: 'input', label: 'Input', per: perTokens },
  { field: 'cachedInput', label: 'Cached input', per: perTokens },
  { field: 'cacheWrite', label: 'Cache write', per: perTokens },
  { field: 'hourCacheWrite', label: 'Cache write, 1 h', per: `${perTokens} that stay in the cache for an hour` },
  { field: 'output', label: 'Output', per: perTokens },
  { field: 'image', label: 'Picture', per: 'US dollars per picture that is made' },
  { field: 'second', label: 'Second', per: 'US dollars per second of sound that is transcribed' },
  { field: 'characters', label: 'Characters', per: 'US dollars per million characters that are spoken' },
  { field: 'search', label: 'Web search', per: 'US dollars per web search that the provider makes' },
] as const;

function PriceForm({ draft, onDone }: { draft: Draft; onDone: () => void }) {
  const [price, setPrice] = useState<Draft>(draft);
  const save = useChange(
    ({ model, ...typed }: Draft) =>
      callApi(
        'PUT',
        `/prices/${encodeURIComponent(model)}`,
        Object.fromEntries(amounts.flatMap(({ field }) => (typed[field] === undefined ? [] : [[field, typed[field]]]))),
      ),
    ['/prices'],
  );
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    save.mutate(price, { onSuccess: onDone });
  };
  const { error } = save;
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        <TextInput
          label="Model"
          required
          readOnly={draft.model !== ''}
          value={price.model}
          error={error?.field === 'model' ? error.message : undefined}
          onChange={({ currentTarget: { value } }) => setPrice((before) => ({ ...before, model: value }))}
        />
        {amounts.map(({ field, label, per }) => (
          <NumberField
            key={field}
            label={label}
            description={per}
            min={0}
            allowNegative={false}
            number={price[field]}
            error={error?.field === field ? error.message : undefined}
            onNumber={(typed) =>
              setPrice((before) => {
                const { [field]: _, ...others } = before;
                const emptyValue = field === 'input' || field === 'output' ? 0 : undefined;
                const value = typed ?? emptyValue;
                return (value === undefined ? others : { ...others, [field]: value }) as Draft;
              })
            }
          />
        ))}
        {error && error.field === undefined ? <Failure title="The price was not changed" error={error} /> : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function optional(dollars: number | undefined): string {
  return dollars === undefined ? '–' : formatMoney(dollars);
}
