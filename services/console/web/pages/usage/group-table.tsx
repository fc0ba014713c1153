import { Anchor } from '@mantine/core';
import type { UsageGroup, UsageReport } from '../../../contract/usage.ts';
import { DataList } from '../../parts/data-list.tsx';
import { formatCount, formatMoney, formatShort, formatUnits } from '../../parts/format.ts';
import { groupLabels } from './usage-query.ts';

export interface GroupTableProps {
  report: UsageReport;
  by: UsageGroup;
  onChoose: (id: string) => void;
}

type Group = UsageReport['groups'][number];

export function GroupTable({ report, by, onChoose }: GroupTableProps) {
  const hasUnits = formatUnits(report.totals) !== undefined;
  return (
    <DataList
      label={`Usage by ${groupLabels[by].toLowerCase()}`}
      rows={report.groups.toSorted((a, b) => b.totals.cost - a.totals.cost || b.totals.requests - a.totals.requests)}
      getId={({ id }) => id}
      columns={[
        {
          label: groupLabels[by],
          render: ({ id, name }) => (
            <Anchor
              component="button"
              type="button"
              size="sm"
              fw={600}
              className="break"
              ta="left"
              onClick={() => onChoose(id)}
            >
              {name === '' ? id || 'none' : name}
            </Anchor>
          ),
          sortBy: ({ id, name }) => name || id,
        },
        { label: 'Requests', sortBy: ({ totals }) => totals.requests, format: formatCount, isNumber: true },
        { label: 'Failed', sortBy: ({ totals }) => totals.failed, format: formatCount, isNumber: true },
        { label: 'Input tokens', sortBy: ({ totals }) => totals.promptTokens, format: formatShort, isNumber: true },
        {
          label: 'Cached input',
          sortBy: ({ totals }) => totals.cachedTokens,
          format: formatShort,
          isNumber: true,
          wideOnly: true,
        },
        {
          label: 'Output tokens',
          sortBy: ({ totals }) => totals.completionTokens,
          format: formatShort,
          isNumber: true,
        },
        ...(hasUnits
          ? [{ label: 'Other units', render: ({ totals }: Group) => formatUnits(totals) ?? '–', wideOnly: true }]
          : []),
        { label: 'Cost', sortBy: ({ totals }) => totals.cost, format: formatMoney, isNumber: true },
      ]}
      address="groups"
    />
  );
}
