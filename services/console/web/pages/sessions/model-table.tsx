import { Text } from '@mantine/core';
import type { SessionModel } from '../../../contract/agent-sessions.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort } from '../../parts/format.ts';
import { cacheHits } from './session-figures.ts';

/** What served turns, and by which rule. */
export function ModelTable({ models, label }: { models: readonly SessionModel[]; label: string }) {
  return (
    <DataList
      label={label}
      rows={models}
      idOf={({ model, rule = '', tier = '' }) => JSON.stringify([model, rule, tier])}
      columns={[
        {
          label: 'Model',
          render: ({ model, rule }) => (
            <div>
              <Text size="sm" className="break">
                {model === '' ? 'further models' : model}
              </Text>
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {rule === undefined ? 'no rule' : `by ${rule}`}
              </Text>
            </div>
          ),
          sortBy: ({ model }) => model,
          search: ({ model, rule = '' }) => `${model} ${rule}`,
        },
        {
          label: 'Turns',
          render: ({ sums }) => formatCount(sums.requests),
          sortBy: ({ sums }) => sums.requests,
          isNumber: true,
        },
        {
          label: 'Tokens',
          render: ({ sums }) => `${formatShort(sums.promptTokens)} → ${formatShort(sums.completionTokens)}`,
          sortBy: ({ sums }) => sums.promptTokens + sums.completionTokens,
          isNumber: true,
        },
        { label: 'Cache hits', render: ({ sums }) => cacheHits(sums), isNumber: true },
        {
          label: 'Cost',
          render: ({ sums }) => formatMoney(sums.cost),
          sortBy: ({ sums }) => sums.cost,
          isNumber: true,
        },
      ]}
    />
  );
}
