import { Stack, Text, Title } from '@mantine/core';
import type { RefusalReport, RefusalSample, RefusedBy } from '../../../contract/refusals.ts';
import { useApi } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatMoment } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';

/** Maximum number of keys to name for one reason. The requests of all other keys are added up. */
const maxNamedSenders = 3;

type Group = RefusalReport['groups'][number];

/** Shows the number of requests that were refused before a worker got them, by reason, and some of the newest of these requests. */
export function RefusedRequests({ query }: { query: string }) {
  const report = useApi<RefusalReport>(`/usage/refusals?${query}`, { everyMs: 10_000 });
  return (
    <Stack gap="xs">
      <Title order={2}>Refused</Title>
      <Text size="sm" c="dimmed">
        Requests that were answered with an error before any worker was given them. The numbers above do not include
        these requests.
      </Text>
      <Loaded query={report} contentName="the refused requests">
        {({ groups, samples }) =>
          groups.length === 0 ? (
            <Text size="sm">No request was refused in this time.</Text>
          ) : (
            <>
              <Reasons groups={groups} />
              {samples.length > 0 ? <Samples samples={samples} /> : null}
            </>
          )
        }
      </Loaded>
    </Stack>
  );
}

function Reasons({ groups }: { groups: readonly Group[] }) {
  return (
    <DataList
      label="Refused requests by reason"
      rows={groups}
      getId={({ id }) => id}
      columns={[
        {
          label: 'Reason',
          render: ({ id }) => <Reason code={id} />,
          sortBy: ({ id }) => id,
          search: ({ id }) => `${id} ${toErrorSentence(id)}`,
        },
        {
          label: 'Key',
          render: (group) => <span className="break">{describeSenders(group)}</span>,
          search: describeSenders,
        },
        { label: 'Refused', sortBy: ({ count }) => count, format: formatCount, isNumber: true },
      ]}
    />
  );
}

/** Lists a few of the newest refused requests with their ids, which also appear in the logs. */
function Samples({ samples }: { samples: readonly RefusalSample[] }) {
  return (
    <>
      <Title order={3} size="md">
        Newest refused requests
      </Title>
      <Text size="xs" c="dimmed">
        Samples: at most one a minute for each key and reason
      </Text>
      <DataList
        label="Newest refused requests"
        rows={samples}
        getId={({ id, at, code }) => `${id} ${at} ${code}`}
        columns={[
          { label: 'Time', render: ({ at }) => <span title={formatDateTime(at)}>{formatMoment(at)}</span> },
          {
            label: 'Reason',
            render: ({ code, status, message }) => <Reason code={code} status={status} message={message} />,
          },
          { label: 'Key', render: (sample) => <span className="break">{nameSender(sample)}</span> },
          { label: 'Requested model', render: ({ model }) => <span className="break">{model ?? '–'}</span> },
          { label: 'Request id', render: ({ id }) => <code className="break">{id}</code>, wideOnly: true },
        ]}
      />
    </>
  );
}

function Reason({ code, status, message }: Pick<RefusalSample, 'code' | 'message'> & { status?: number }) {
  return (
    <div>
      <Text size="sm" className="break">
        {message ?? toErrorSentence(code)}
      </Text>
      <Text size="xs" c="dimmed">
        {[status, code].filter((part) => part !== undefined).join(' ')}
      </Text>
    </div>
  );
}

/** Names the senders of refused requests, the sender with the most requests first. */
function describeSenders({ rows, count }: Group): string {
  const namedRows = rows.slice(0, maxNamedSenders);
  const otherCount = count - namedRows.reduce((sum, row) => sum + row.count, 0);
  const parts = namedRows.map((row) =>
    namedRows.length === 1 && otherCount === 0 ? nameSender(row) : `${nameSender(row)}: ${formatCount(row.count)}`,
  );
  return [...parts, ...(otherCount > 0 ? [`others: ${formatCount(otherCount)}`] : [])].join(', ');
}

/** Id that stands for all keys that are counted together. */
const otherKeysId = 'other';

/** Names the sender of a refused request by key and owner, for example `laptop (Ada)`. */
export function nameSender({ key, owner }: RefusedBy): string {
  if (!key) return 'no known key';
  if (key.id === otherKeysId) return 'other keys';
  if (!owner || owner.name === key.name) return key.name;
  return `${key.name} (${owner.name})`;
}
