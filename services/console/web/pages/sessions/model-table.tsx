import { Text } from '@mantine/core';
import type { SessionModel } from '../../../contract/agent-sessions.ts';
import { DataList } from '../../parts/data-list.tsx';
import { createSumColumns } from './sum-columns.tsx';

const { turns, tokens, hits, cost } = createSumColumns<SessionModel>(({ sums }) => sums);

export function ModelTable({ models, label }: { models: readonly SessionModel[]; label: string }) {
  return (
    <DataList
      label={label}
      rows={models}
      getId={({ model, rule = '', tier = '' }) => JSON.stringify([model, rule, tier])}
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
        turns,
        tokens,
        hits,
        cost,
      ]}
    />
  );
}
