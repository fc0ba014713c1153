import { Badge, Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { McpAccountLink, AuthorizationResponse } from '../../../contract/mcp-account-links.ts';
import { callApi, type ApiFailure } from '../../api/call-api.ts';
import { useIsAdmin } from '../../api/session.ts';
import { refreshAnswers, useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { DataList } from '../../parts/data-list.tsx';
import { Failure } from '../../parts/failure.tsx';
import { formatAgo } from '../../parts/format.ts';
import { EmptyPanel, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { RowName } from '../../parts/table/row-parts.tsx';

const stateLabels = {
  connected: { word: 'Connected', color: 'green' },
  expired: { word: 'Expired', color: 'orange' },
  none: { word: 'Not connected', color: 'gray' },
} as const;

/** Lists the MCP servers to which people can link an account, each with the state of the signed-in person's link. */
export function McpAccountLinks() {
  const links = useApi<McpAccountLink[]>('/connections', { everyMs: 15_000 });
  const isAdmin = useIsAdmin();
  const completion = useLinkCompletion();
  const [linkToRemove, setLinkToRemove] = useState<McpAccountLink>();
  const connect = useMutation<{ url: string }, ApiFailure, string>({
    mutationFn: (server) => callApi('POST', `/connections/${encodeURIComponent(server)}`),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  const disconnect = useChange(
    ({ server }: McpAccountLink) => callApi('DELETE', `/connections/${encodeURIComponent(server)}`),
    ['/connections'],
  );
  return (
    <Page title="Connections" description="MCP servers with tools that you use through your own account at the server.">
      <Stack gap="xs">
        {completion.error ? <Failure title="You were not connected" error={completion.error} /> : null}
        {connect.error ? <Failure title="You cannot be connected" error={connect.error} /> : null}
        <Loaded query={links} contentName="the connections">
          {(list) =>
            list.length === 0 ? (
              <EmptyPanel
                title="No servers to connect to"
                action={
                  isAdmin ? (
                    <Button component={Link} href="/admin/registry">
                      Open the registry
                    </Button>
                  ) : null
                }
              >
                A connection lets your keys use the tools of an MCP server with your account there. An administrator
                adds such servers to the registry, with <code>auth: oauth</code>.
              </EmptyPanel>
            ) : (
              <DataList
                label="Connections"
                rows={list}
                getId={({ server }) => server}
                columns={[
                  {
                    label: 'Server',
                    render: (link) => <ServerName link={link} />,
                    sortBy: ({ server }) => server,
                    search: ({ server, host }) => `${server} ${host}`,
                  },
                  {
                    label: 'State',
                    render: ({ state }) => (
                      <Badge variant="dot" color={stateLabels[state].color}>
                        {stateLabels[state].word}
                      </Badge>
                    ),
                    sortBy: ({ state }) => stateLabels[state].word,
                  },
                  {
                    label: 'Since',
                    render: ({ connectedAt }) => (connectedAt === undefined ? '–' : formatAgo(connectedAt)),
                    sortBy: ({ connectedAt }) => connectedAt,
                    wideOnly: true,
                  },
                ]}
                address=""
                actions={(link) => (
                  <Actions
                    link={link}
                    isBusy={completion.isPending || connect.isPending || connect.isSuccess}
                    onConnect={() => connect.mutate(link.server)}
                    onDisconnect={() => setLinkToRemove(link)}
                  />
                )}
              />
            )
          }
        </Loaded>
      </Stack>
      <Confirm
        title="Disconnect?"
        action="Disconnect"
        change={disconnect}
        input={linkToRemove}
        onClose={() => setLinkToRemove(undefined)}
      >
        The router deletes your access to {linkToRemove?.server}. Your keys can then no longer call its tools.
      </Confirm>
    </Page>
  );
}

/** Completes an MCP account link when the person returns from the authorization server. Removes the server's answer from the URL. */
function useLinkCompletion() {
  const completion = useMutation<{ server: string }, ApiFailure, AuthorizationResponse>({
    mutationFn: (answer) => callApi('POST', '/connections', answer),
    onSettled: () => refreshAnswers(['/connections']),
  });
  const { mutate } = completion;
  useEffect(() => {
    const query = new URLSearchParams(window.location.search);
    const [state, code, iss] = [query.get('state'), query.get('code'), query.get('iss')];
    if (state === null) return;
    window.history.replaceState(null, '', window.location.pathname);
    mutate({ state, ...(code === null ? {} : { code }), ...(iss === null ? {} : { iss }) });
  }, [mutate]);
  return completion;
}

function ServerName({ link: { server, host } }: { link: McpAccountLink }) {
  return <RowName name={server} details={host} />;
}

interface ActionsProps {
  link: McpAccountLink;
  isBusy: boolean;
  onConnect: () => void;
  onDisconnect: () => void;
}

function Actions({ link: { server, state }, isBusy, onConnect, onDisconnect }: ActionsProps) {
  return (
    <Button.Group style={{ justifyContent: 'flex-end' }}>
      {state === 'connected' ? null : (
        <Button size="compact-sm" loading={isBusy} onClick={onConnect} aria-label={`Connect to ${server}`}>
          Connect
        </Button>
      )}
      {state === 'none' ? null : (
        <Button size="compact-sm" variant="default" onClick={onDisconnect} aria-label={`Disconnect from ${server}`}>
          Disconnect
        </Button>
      )}
    </Button.Group>
  );
}
