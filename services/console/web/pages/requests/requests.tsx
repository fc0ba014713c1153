import { useParams, Link } from 'wouter';
import { LogPage } from './log-page.tsx';
import { Anchor, Stack } from '@mantine/core';
import type { UsageRequest } from '../../../contract/usage.ts';
import { useApi } from '../../api/use-api.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { RequestFacts } from '../usage/request-facts.tsx';
import { FindRequest } from './find-request.tsx';
import { NoRequest } from './no-request.tsx';
import { RecordedRequest } from './recorded-request.tsx';

/** Shows the log of requests. If the URL contains an id, it shows the requests with this id. */
export function Requests() {
  const id = useParams()['*'];
  return id === undefined || id === '' ? <LogPage /> : <OneRequest key={id} id={decodePart(id)} />;
}

/** Decodes a part of the URL, in which a colon may be written as `%3A`. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Shows the requests with an id. Several requests have the same id if the client repeats ids, or if a request has several turns. */
export function OneRequest({ id }: { id: string }) {
  const requestQuery = useApi<UsageRequest[]>(`/usage/requests/${encodeURIComponent(id)}`);
  return (
    <Page title="Request" description={id} actions={<FindRequest />}>
      <Anchor component={Link} href="/requests" size="sm">
        All requests
      </Anchor>
      <RecordedRequest id={id} />
      {requestQuery.error?.status === 404 ? (
        <NoRequest id={id} />
      ) : (
        <Loaded query={requestQuery} contentName="the request">
          {(requests) => (
            <Stack gap="sm">
              {requests.map((request, index) => (
                <section key={index} className="panel" aria-label={`Request ${index + 1} of ${requests.length}`}>
                  <RequestFacts request={request} />
                </section>
              ))}
            </Stack>
          )}
        </Loaded>
      )}
    </Page>
  );
}
