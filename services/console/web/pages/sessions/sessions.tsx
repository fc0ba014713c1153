import { Button, Code, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { useRoute } from 'wouter';
import type { AgentSession } from '../../../contract/agent-sessions.ts';
import { useIsAdmin } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { RecordingNotice } from '../../parts/recording-notice.tsx';
import { OwnerSelect } from '../../parts/owner-select.tsx';
import { Page } from '../../parts/page.tsx';
import { useOwner } from '../../parts/use-owner.ts';
import { OwnerSums } from './owner-sums.tsx';
import { SessionList } from './session-list.tsx';
import { SessionPage } from './session-page.tsx';

/** Milliseconds between two fetches while turns run. */
const fetchEveryMs = 2_000;

/** Milliseconds between two fetches while no turn runs. */
const fetchIdleEveryMs = 3_000;

/** Number of agent sessions that are shown at first, and that each click adds. */
const pageSize = 50;

/** Maximum number of agent sessions to show. */
const maxSessions = 500;

/** The choice that shows all agent sessions that the person may see. */
const allOwners = 'all';

interface SessionsAnswer {
  data: AgentSession[];
  next?: string;
}

export function Sessions() {
  const [isOneSession, params] = useRoute('/sessions/:id');
  return isOneSession ? <SessionPage key={params.id} id={params.id} /> : <AllSessions />;
}

function AllSessions() {
  const isAdmin = useIsAdmin();
  const choice = useOwner(isAdmin ? allOwners : undefined);
  const { owner, mayChoose } = choice;
  const label = isAdmin ? 'Everybody' : 'You and your teams';
  return (
    <Page
      title="Agent sessions"
      description="What coding agents are doing: their turns, the agents that they start, and where the time went. No prompt is kept for this page."
    >
      <RecordingNotice />
      <OwnerSelect
        choice={choice}
        furtherChoices={mayChoose ? [{ group: label, items: [{ value: allOwners, label }] }] : []}
      />
      <OwnerSessions key={owner} owner={owner} />
    </Page>
  );
}

function OwnerSessions({ owner }: { owner: string }) {
  const [limit, setLimit] = useState(pageSize);
  const filter = owner === allOwners ? '' : owner.replace(':', '=');
  const sessions = useApi<SessionsAnswer>(`/agent-sessions?limit=${limit}&${filter}`, {
    everyMs: (answer) => (answer?.data.some(({ running }) => running.length > 0) ? fetchEveryMs : fetchIdleEveryMs),
  });
  return (
    <>
      <OwnerSums filter={filter} />
      <Loaded query={sessions} contentName="the sessions">
        {({ data, next }) =>
          data.length === 0 ? (
            <section className="panel">
              <NoSessions />
            </section>
          ) : (
            <Stack gap="xs">
              <SessionList sessions={data} showsOwners={owner === allOwners} hasMore={next !== undefined} />
              {next !== undefined && limit < maxSessions ? (
                <Group justify="center">
                  <Button variant="default" onClick={() => setLimit(limit + pageSize)}>
                    Show earlier sessions
                  </Button>
                </Group>
              ) : null}
            </Stack>
          )
        }
      </Loaded>
    </>
  );
}

function NoSessions() {
  return (
    <Empty title="No sessions yet">
      <Stack gap="xs">
        <div>
          Claude Code, Codex and opencode name their session in each request: run one of them with the router, and its
          session appears here while it runs. <Code>rtr env claude</Code> sets up Claude Code.
        </div>
        <div>
          With <Code>CLAUDE_CODE_GATEWAY_HINT_HEADERS=1</Code> in its environment, which <Code>rtr env claude</Code>{' '}
          sets, Claude Code also says what kinds of agents it starts and how long its tools take. Any other client can
          send the request header <Code>x-rtr-session</Code> with a name of its own.
        </div>
      </Stack>
    </Empty>
  );
}
