import { Badge, Text } from '@mantine/core';
import type { UsageRequest } from '../../../contract/usage.ts';
import type { Column } from '../../parts/data-list.tsx';
import { errorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatDuration, formatMoment, formatMoney } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

export const outcomes = { done: 'Served', failed: 'Failed', cancelled: 'Cancelled' } as const;
const outcomeColours = { done: 'green', failed: 'red', cancelled: 'gray' } as const;

/** The columns of a list of requests. */
export const requestColumns: readonly [Column<UsageRequest>, ...Column<UsageRequest>[]] = [
  { label: 'Time', render: ({ at }) => <span title={formatDateTime(at)}>{formatMoment(at)}</span> },
  { label: 'Model', render: (request) => <Model request={request} /> },
  { label: 'Key', render: ({ key }) => <span className="break">{key.name}</span> },
  { label: 'Outcome', render: (request) => <Outcome request={request} /> },
  {
    label: 'First token',
    render: ({ firstTokenMs: ms }) => (ms === undefined ? '–' : formatDuration(ms)),
    isNumber: true,
  },
  { label: 'Total', render: ({ totalMs }) => formatDuration(totalMs), isNumber: true },
  {
    label: 'Tokens',
    render: ({ promptTokens, completionTokens }) => `${formatCount(promptTokens)} → ${formatCount(completionTokens)}`,
    isNumber: true,
  },
  { label: 'Cost', render: ({ cost }) => formatMoney(cost), isNumber: true },
];

/** A request's name in a list. */
export function requestRow({ id, at, cursor }: UsageRequest): string {
  return cursor ?? `${id} ${at}`;
}

function Model({ request: { asked, purpose, model, tier } }: { request: UsageRequest }) {
  return (
    <div>
      <Text size="sm" className="break">
        {model ?? asked}
      </Text>
      <Text size="xs" c="dimmed">
        {[model !== undefined && model !== asked ? `asked for ${asked}` : undefined, purpose, tier && tierNames[tier]]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </Text>
    </div>
  );
}

export function Outcome({ request: { outcome, code } }: { request: UsageRequest }) {
  return (
    <Badge
      variant="dot"
      color={outcomeColours[outcome]}
      title={code === undefined ? undefined : `${code}: ${errorSentence(code)}`}
    >
      {outcomes[outcome]}
    </Badge>
  );
}
