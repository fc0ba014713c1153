import { Button, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type {
  Background,
  BackgroundQueueFacts,
  FailingJobFacts,
  WebhookBacklog,
} from '../../../contract/background.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo, formatCount } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';

/** Milliseconds between two fetches. */
const fetchEveryMs = 3_000;

/** Descriptions of the queues. A queue of another release has no description, and is shown under its technical name. */
const queueNames: Record<string, string> = {
  'batch-validations': 'Inputs of batches are checked',
  'batch-slices': 'Requests of batches are run',
  'batch-endings': 'Results of batches are written',
  responses: 'Responses in the background are made',
  webhooks: 'Events are sent to webhooks',
  'alert-mails': 'Alerts are sent by e-mail',
  scheduled: 'Alerts, exports and sweeps run at intervals',
};

export function BackgroundWork() {
  const background = useApi<Background>('/background', { everyMs: fetchEveryMs });
  const webhooks = useApi<WebhookBacklog[]>('/background/webhooks', { everyMs: fetchEveryMs });
  return (
    <Stack gap="lg">
      <Loaded query={background} contentName="the background work">
        {({ queues, failing }) => (
          <>
            <Queues queues={queues} />
            <FailingJobs jobs={failing} />
          </>
        )}
      </Loaded>
      <Loaded query={webhooks} contentName="the webhooks">
        {(backlog) => <Webhooks backlog={backlog} />}
      </Loaded>
    </Stack>
  );
}

function Queues({ queues }: { queues: readonly BackgroundQueueFacts[] }) {
  return (
    <Stack gap="xs">
      <Title order={2}>Queues</Title>
      <Text size="sm" c="dimmed">
        Batch runners take jobs from these. <Link href="/batches?of=open">Show all batches that are not over</Link>
      </Text>
      <DataList
        label="Queues of background work"
        rows={queues}
        getId={({ name }) => name}
        columns={[
          {
            label: 'Queue',
            render: ({ name }) => <QueueName name={name} />,
            sortBy: ({ name }) => queueNames[name] ?? name,
          },
          { label: 'Waiting', sortBy: ({ waiting }) => waiting, format: formatCount, isNumber: true },
          { label: 'Running', sortBy: ({ active }) => active, format: formatCount, isNumber: true },
          { label: 'Later', sortBy: ({ delayed }) => delayed, format: formatCount, isNumber: true },
        ]}
      />
    </Stack>
  );
}

function QueueName({ name }: { name: string }) {
  return (
    <div>
      <Text size="sm">{queueNames[name] ?? name}</Text>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
    </div>
  );
}

function FailingJobs({ jobs }: { jobs: readonly FailingJobFacts[] }) {
  const repeatJob = useChange(
    ({ queue, id }: FailingJobFacts) => callApi<{ repeated: boolean }>('POST', '/background/repeat', { queue, id }),
    ['/background'],
  );
  return (
    <Stack gap="xs">
      <Title order={2}>Failing jobs</Title>
      {repeatJob.error ? <Failure title="The job was not repeated" error={repeatJob.error} /> : null}
      {jobs.length === 0 ? (
        <EmptyPanel title="No job fails">
          Jobs that have failed appear here. The router tries them again by itself.
        </EmptyPanel>
      ) : (
        <DataList
          label="Failing jobs"
          address="jobs"
          rows={jobs}
          getId={({ queue, id }) => `${queue} ${id}`}
          columns={[
            { label: 'Job', sortBy: ({ id }) => id },
            { label: 'Queue', sortBy: ({ queue }) => queue },
            { label: 'Failures', sortBy: ({ failures }) => failures, format: formatCount, isNumber: true },
            {
              label: 'Last',
              render: ({ lastAt }) => (lastAt === undefined ? '–' : formatAgo(lastAt)),
              sortBy: ({ lastAt }) => lastAt,
            },
            { label: 'Reason', sortBy: ({ reason }) => reason },
          ]}
          actions={(job) => (
            <Button
              size="xs"
              variant="default"
              aria-label={`Repeat now: ${job.id}`}
              loading={repeatJob.isPending && repeatJob.variables.id === job.id}
              onClick={() => repeatJob.mutate(job)}
            >
              Repeat now
            </Button>
          )}
        />
      )}
    </Stack>
  );
}

function Webhooks({ backlog }: { backlog: readonly WebhookBacklog[] }) {
  const sendAgain = useChange(
    ({ webhook: { id } }: WebhookBacklog) =>
      callApi<{ repeated: number }>('POST', `/webhooks/${encodeURIComponent(id)}/repeat`, {}),
    ['/background', '/webhooks'],
  );
  return (
    <Stack gap="xs">
      <Title order={2}>Events for webhooks</Title>
      {sendAgain.error ? <Failure title="The events were not sent again" error={sendAgain.error} /> : null}
      {backlog.length === 0 ? (
        <EmptyPanel title="Every event has arrived">
          A webhook appears here while events are on their way to it, or if events were given up after a day.
        </EmptyPanel>
      ) : (
        <DataList
          label="Webhooks with events"
          address="webhooks"
          rows={backlog}
          getId={({ webhook }) => webhook.id}
          columns={[
            { label: 'Webhook', sortBy: ({ webhook }) => webhook.url },
            { label: 'Owner', sortBy: ({ webhook }) => webhook.owner?.name ?? 'the router' },
            { label: 'On their way', sortBy: ({ pending }) => pending, format: formatCount, isNumber: true },
            { label: 'Given up', sortBy: ({ dead }) => dead, format: formatCount, isNumber: true },
          ]}
          actions={(entry) =>
            entry.dead === 0 ? null : (
              <Button
                size="xs"
                variant="default"
                disabled={!entry.webhook.enabled}
                aria-label={`Send again: events to ${entry.webhook.url}`}
                onClick={() => sendAgain.mutate(entry)}
              >
                Send again
              </Button>
            )
          }
        />
      )}
    </Stack>
  );
}
