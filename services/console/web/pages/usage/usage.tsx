import { Anchor, Button, Group, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import type { UsageGroup, UsageReport, Totals } from '../../../contract/usage.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { Downloads } from '../../parts/downloads.tsx';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { MineSwitch } from '../../parts/mine-switch.tsx';
import { Page } from '../../parts/page.tsx';
import { GroupTable } from './group-table.tsx';
import { LimitUses } from './limit-uses.tsx';
import { measures, filterNames, groupLabels, readUsageQuery, usageSpans, type UsageQuery } from './usage-query.ts';
import { RecentRequests } from './recent-requests.tsx';
import { RefusedRequests } from './refused-requests.tsx';
import { formatCount, formatMoney, formatShort, formatUnits } from '../../parts/format.ts';
import { Tile } from '../../parts/tile.tsx';
import { UsagePlot } from './usage-plot.tsx';
import { useFilterName } from './use-filter-name.ts';
import { formatPeriod } from '../../parts/dates.ts';

/** Shows usage and its cost. The choices are kept in the URL, so that a view can be shared. */
export function Usage() {
  const [search, setSearch] = useSearchParams();
  const query = readUsageQuery(search);
  // Each choice is an entry of the browser's history, so that Back undoes it.
  const changeQuery = (change: Record<string, string | undefined>): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined) next.delete(name);
      else next.set(name, value);
    }
    if (next.toString() !== search.toString()) setSearch(next);
  };
  return (
    <Page title="Usage" description="Requests, tokens and their cost by the price table. Days are in UTC.">
      <LimitUses />
      <MineSwitch user={query.filters.user} onUser={(user) => changeQuery({ user })} />
      <UsageChoices query={query} onQuery={changeQuery} />
      <LoadedReport key={JSON.stringify([query.by, query.filters])} query={query} onQuery={changeQuery} />
      <Stack gap="xs">
        <Title order={2}>Recent requests</Title>
        <RecentRequests baseQuery={query.exportQuery} />
      </Stack>
      <RefusedRequests query={query.refusedQuery} />
    </Page>
  );
}

interface UsageChoicesProps {
  query: UsageQuery;
  onQuery: (change: Record<string, string | undefined>) => void;
}

function UsageChoices({ query, onQuery }: UsageChoicesProps) {
  const isAdmin = useIsAdmin();
  const filters = filterNames.flatMap((name) =>
    query.filters[name] === undefined ? [] : [[name, query.filters[name]] as const],
  );
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <Select
          label="Time"
          w="11rem"
          data={Object.entries(usageSpans).map(([value, { label }]) => ({ value, label }))}
          value={query.span}
          allowDeselect={false}
          onChange={(span) => onQuery({ span: span ?? undefined })}
        />
        <Select
          label="By"
          w="9rem"
          data={Object.entries(groupLabels)
            .filter(([value]) => isAdmin || value !== 'user')
            .map(([value, label]) => ({ value, label }))}
          value={query.by}
          allowDeselect={false}
          onChange={(by) => onQuery({ by: by ?? undefined })}
        />
        <SegmentedControl
          aria-label="Measure"
          data={Object.entries(measures).map(([value, { name }]) => ({ value, label: name }))}
          value={query.measure}
          onChange={(measure) => onQuery({ measure })}
        />
        <Downloads name="usage" path="/usage/export" filters={query.exportQuery} />
      </Group>
      {filters.length === 0 ? null : (
        <Group gap="xs">
          {filters.map(([name, value]) => (
            <FilterButton key={name} group={name} id={value} onRemove={() => onQuery({ [name]: undefined })} />
          ))}
        </Group>
      )}
    </Stack>
  );
}

function FilterButton({ group, id, onRemove }: { group: UsageGroup; id: string; onRemove: () => void }) {
  const name = useFilterName(group, id);
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`Remove the filter ${groupLabels[group]} ${name}`}
      onClick={onRemove}
    >
      {groupLabels[group]}: {name} ×
    </Button>
  );
}

/**
 * Shows the report. While a report of another span loads, the previous report stays visible. A report of other groups or with other filters
 * never stays visible.
 */
function LoadedReport({ query, onQuery }: UsageChoicesProps) {
  const report = useApi<UsageReport>(`/usage?${query.reportQuery}`, { everyMs: 10_000 });
  return (
    <Loaded query={report} contentName="the usage">
      {(loadedReport) => (
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            Requests that began {formatPeriod(loadedReport)}
          </Text>
          <Report report={loadedReport} query={query} onQuery={onQuery} />
        </Stack>
      )}
    </Loaded>
  );
}

function Report({
  report,
  query,
  onQuery,
}: {
  report: UsageReport;
  query: UsageQuery;
  onQuery: UsageChoicesProps['onQuery'];
}) {
  if (report.totals.requests === 0) {
    return (
      <EmptyPanel title="No usage in this time">
        Try the{' '}
        <Anchor component={Link} href="/playground" inherit underline="always">
          playground
        </Anchor>
        , use one of your{' '}
        <Anchor component={Link} href="/keys" inherit underline="always">
          keys
        </Anchor>
        , or choose a longer time.
      </EmptyPanel>
    );
  }
  return (
    <Stack gap="sm">
      <TotalsTiles totals={report.totals} />
      <UsagePlot report={report} query={query} />
      <GroupTable report={report} by={query.by} onChoose={(id) => onQuery({ [query.by]: id })} />
    </Stack>
  );
}

function TotalsTiles({ totals }: { totals: Totals }) {
  const { requests, failed, cancelled, promptTokens, cachedTokens, completionTokens, reasoningTokens, cost } = totals;
  const units = formatUnits(totals);
  return (
    <div className="tiles">
      <Tile name="Requests" value={formatCount(requests)}>
        {formatCount(failed)} failed, {formatCount(cancelled)} cancelled
      </Tile>
      <Tile name="Input tokens" value={formatShort(promptTokens)}>
        {formatShort(cachedTokens)} of them cached
      </Tile>
      <Tile name="Output tokens" value={formatShort(completionTokens)}>
        {formatShort(reasoningTokens)} of them reasoning
      </Tile>
      {units === undefined ? null : (
        <Tile name="Other units" value={units}>
          besides tokens
        </Tile>
      )}
      <Tile name="Cost" value={formatMoney(cost)}>
        by the price table
      </Tile>
    </div>
  );
}
