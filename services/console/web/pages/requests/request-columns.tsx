import type { UsageRequest } from '../../../contract/usage.ts';
import type { Column } from '../../parts/data-list.tsx';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatDuration, formatMoment, formatMoney } from '../../parts/format.ts';
import { tierNames } from '../../parts/tier-mark.tsx';

export const outcomeLabels = { done: 'Served', failed: 'Failed', cancelled: 'Cancelled' } as const;

export const requestColumns: readonly [Column<UsageRequest>, ...Column<UsageRequest>[]] = [
  { label: 'Time', render: ({ at }) => <span title={formatDateTime(at)}>{formatMoment(at)}</span> },
  { label: 'Model', render: (request) => <ModelCell request={request} /> },
  { label: 'Key', render: ({ key }) => <span className="break">{key.name}</span> },
  { label: 'Outcome', render: (request) => <OutcomeCell request={request} /> },
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

export function toRowId({ id, at, cursor }: UsageRequest): string {
  return cursor ?? `${id} ${at}`;
}

/* The cells are plain elements, because a log renders hundreds of cells again with each new request. */

function ModelCell({ request: { asked, purpose, model, tier } }: { request: UsageRequest }) {
  return (
    <div>
      <div className="break">{model ?? asked}</div>
      <div className="cell-note">
        {[model !== undefined && model !== asked ? `asked for ${asked}` : undefined, purpose, tier && tierNames[tier]]
          .filter((part) => part !== undefined)
          .join(' · ')}
      </div>
    </div>
  );
}

function OutcomeCell({ request: { outcome, code } }: { request: UsageRequest }) {
  return (
    <span className="outcome" title={code === undefined ? undefined : `${code}: ${toErrorSentence(code)}`}>
      <span className={`outcome-dot outcome-${outcome}`} aria-hidden="true" />
      {outcomeLabels[outcome]}
    </span>
  );
}
