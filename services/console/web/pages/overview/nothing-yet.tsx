import { Button, Group } from '@mantine/core';
import { Link } from 'wouter';
import type { UsageRequest } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { formatAgo } from '../../parts/format.ts';
import { Empty, Loading } from '../../parts/loaded.tsx';

/**
 * Shows what to do if no request was served lately. The ledger says whether there ever was a request, because an ingress counts only from
 * its start.
 */
export function NothingYet({ hasWorkers }: { hasWorkers: boolean }) {
  const lastRequest = useApi<{ requests: UsageRequest[] }>('/usage/requests?limit=1');
  if (!hasWorkers) {
    return (
      <Empty title="No worker serves a model yet">
        Start an engine on this machine, or a worker on any other: <code>rtr worker gpu</code>. It then appears under{' '}
        <Link href="/workers">Workers</Link>.
      </Empty>
    );
  }
  if (lastRequest.isPending) return <Loading contentName="the last request" />;
  const [request] = lastRequest.data?.requests ?? [];
  if (request) {
    return (
      <Empty title="No requests lately">
        The last request began {formatAgo(request.at)}. <Link href="/usage">Usage</Link> has all requests.
      </Empty>
    );
  }
  return (
    <Empty title="No requests yet">
      Try a model in the playground, or create a key and use it with your own client.
      <Group justify="center" mt="sm">
        <Button component={Link} href="/playground">
          Open the playground
        </Button>
        <Button component={Link} href="/keys" variant="default">
          Create a key
        </Button>
      </Group>
    </Empty>
  );
}
