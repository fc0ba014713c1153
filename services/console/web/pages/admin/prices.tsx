import { Badge, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Price } from '../../../contract/usage.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList, type Column } from '../../parts/data-list.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { formatMoney } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { RowName } from '../../parts/table/row-parts.tsx';

type Draft = Omit<Price, 'asOf' | 'source'>;

export function Prices() {
  const prices = useApi<Price[]>('/prices');
  const [editedPrice, setEditedPrice] = useState<Draft>();
  const [priceToReset, setPriceToReset] = useState<Price>();
  const resetPrice = useChange(
    ({ model }: Price) => callApi('DELETE', `/prices/${encodeURIComponent(model)}`),
    ['/prices'],
  );
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        US dollars per million tokens. Some models also have prices per picture, second, million characters or web
        search. A price that you set overrides the shipped table. A model without a price costs nothing.
      </Text>
      <Group align="flex-end">
        <Button
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => setEditedPrice({ model: '', input: 0, output: 0 })}
        >
          Set a price
        </Button>
      </Group>
      <Loaded query={prices} contentName="the prices">
        {(list) => {
          if (list.length === 0) {
            return (
              <EmptyPanel
                title="No prices"
                action={
                  <Button onClick={() => setEditedPrice({ model: '', input: 0, output: 0 })}>
                    Set the first price
                  </Button>
                }
              >
                Costs and limits in dollars are computed from these prices. Set a price under the model name that
                clients ask for.
              </EmptyPanel>
            );
          }
          return (
            <>
              <DataList
                label="Prices"
                rows={list}
                address=""
                searchLabel="Find a model"
                getId={({ model }) => model}
                columns={[
                  {
                    label: 'Model',
                    render: (price) => <ModelName price={price} />,
                    sortBy: ({ model }) => model,
                    search: ({ model, source }) => (source === 'changed' ? `${model} changed` : model),
                  },
                  createAmountColumn('Input', ({ input }) => input),
                  createAmountColumn('Cached input', ({ cachedInput }) => cachedInput),
                  createAmountColumn('Cache write', ({ cacheWrite }) => cacheWrite),
                  createAmountColumn('For an hour', ({ hourCacheWrite }) => hourCacheWrite),
                  createAmountColumn('Output', ({ output }) => output),
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
                      onClick={() => setEditedPrice(price)}
                    >
                      Change
                    </Button>
                    {price.source === 'changed' ? (
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={`Reset the price of ${price.model}`}
                        onClick={() => setPriceToReset(price)}
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
      <Modal
        opened={editedPrice !== undefined}
        onClose={() => setEditedPrice(undefined)}
        title={editedPrice?.model || 'Set a price'}
      >
        {editedPrice ? (
          <PriceForm key={editedPrice.model} draft={editedPrice} onDone={() => setEditedPrice(undefined)} />
        ) : null}
      </Modal>
      <Confirm
        title="Reset the price?"
        action="Reset price"
        change={resetPrice}
        input={priceToReset}
        onClose={() => setPriceToReset(undefined)}
      >
        {priceToReset?.model} has the price of the shipped table again, or no price if the table has none. Past usage
        keeps its cost.
      </Confirm>
    </Stack>
  );
}

function createAmountColumn(label: string, readAmount: (price: Price) => number | undefined): Column<Price> {
  return { label, render: (price) => formatPrice(readAmount(price)), sortBy: readAmount, isNumber: true };
}

function ModelName({ price: { model, source } }: { price: Price }) {
  return <RowName name={model}>{source === 'changed' ? <Badge variant="default">changed</Badge> : null}</RowName>;
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

const perMillionTokens = 'US dollars per million tokens';
const priceFields = [
  { field: 'input', label: 'Input', per: perMillionTokens },
  { field: 'cachedInput', label: 'Cached input', per: perMillionTokens },
  { field: 'cacheWrite', label: 'Cache write', per: perMillionTokens },
  { field: 'hourCacheWrite', label: 'Cache write, 1 h', per: `${perMillionTokens} that stay in the cache for an hour` },
  { field: 'output', label: 'Output', per: perMillionTokens },
  { field: 'image', label: 'Picture', per: 'US dollars per picture that is made' },
  { field: 'second', label: 'Second', per: 'US dollars per second of sound that is transcribed' },
  { field: 'characters', label: 'Characters', per: 'US dollars per million characters that are spoken' },
  { field: 'search', label: 'Web search', per: 'US dollars per web search that the provider makes' },
] as const;

function PriceForm({ draft, onDone }: { draft: Draft; onDone: () => void }) {
  const [price, setPrice] = useState<Draft>(draft);
  const save = useChange(
    ({ model, ...prices }: Draft) =>
      callApi(
        'PUT',
        `/prices/${encodeURIComponent(model)}`,
        Object.fromEntries(
          priceFields.flatMap(({ field }) => (prices[field] === undefined ? [] : [[field, prices[field]]])),
        ),
      ),
    ['/prices'],
  );
  const { error } = save;
  return (
    <DialogForm
      change={save}
      failure="The price was not changed"
      inputs={['model', ...priceFields.map(({ field }) => field)]}
      action="Save"
      onSubmit={() => save.mutate(price, { onSuccess: onDone })}
      onCancel={onDone}
    >
      <TextInput
        label="Model"
        required
        readOnly={draft.model !== ''}
        value={price.model}
        error={error?.findProblem('model')}
        onChange={({ currentTarget: { value } }) => setPrice((before) => ({ ...before, model: value }))}
      />
      {priceFields.map(({ field, label, per }) => (
        <NumberField
          key={field}
          label={label}
          description={per}
          min={0}
          allowNegative={false}
          number={price[field]}
          error={error?.findProblem(field)}
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
    </DialogForm>
  );
}

function formatPrice(dollars: number | undefined): string {
  return dollars === undefined ? '–' : formatMoney(dollars);
}
