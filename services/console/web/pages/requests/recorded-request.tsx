import { Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Recording, RecordingWithContent } from '../../../contract/recordings.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { answerParts, requestParts, type RecordedPart } from './recorded-conversation.ts';

/** Shows the conversation of a recorded request when the person clicks for it. Shows nothing for a request that was not recorded. */
export function RecordedRequest({ id }: { id: string }) {
  const { data: page } = useApi<{ data: Recording[] }>(`/recordings?limit=10&request=${encodeURIComponent(id)}`);
  return page?.data.map((recording) => <Recorded key={recording.storedAs} recording={recording} />);
}

function Recorded({ recording }: { recording: Recording }) {
  const { id, storedAs, recordedBy, expiresAt } = recording;
  const [isShown, show] = useState(false);
  const [deleted, remove] = useState<Recording>();
  const path = `/recordings/${encodeURIComponent(id)}?storedAs=${encodeURIComponent(storedAs)}`;
  const deletion = useChange(() => callApi('DELETE', path), ['/recordings']);
  return (
    <section className="panel" aria-label="Recording">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Recorded
          </Title>
          <Group gap="xs">
            {isShown ? null : (
              <Button variant="default" onClick={() => show(true)}>
                Show conversation
              </Button>
            )}
            <Button variant="default" onClick={() => remove(recording)}>
              Delete recording
            </Button>
          </Group>
        </Group>
        <Text size="sm">
          Prompt and answer of this request by {recordedBy} are kept until {formatDateTime(expiresAt)}. Unless they were
          sent with a key of your own, reading them is noted in the audit trail.
        </Text>
        {isShown ? <Content path={path} /> : null}
      </Stack>
      <Confirm
        title="Delete the recording?"
        action="Delete recording"
        change={deletion}
        input={deleted}
        onClose={() => remove(undefined)}
      >
        Prompt and answer are removed at once. What the ledger has of the request stays.
      </Confirm>
    </section>
  );
}

function Content({ path }: { path: string }) {
  const whole = useApi<RecordingWithContent>(path);
  const [isRaw, showRaw] = useState(false);
  return (
    <Loaded query={whole} contentName="the recording">
      {({ request, answer, answerEncoding, isRequestCut, isAnswerCut }) => {
        const sent = requestParts(request);
        const answered = answerEncoding === 'utf8' ? answerParts(answer) : undefined;
        return (
          <Stack gap="sm">
            <Group>
              <Button size="xs" variant="default" aria-pressed={isRaw} onClick={() => showRaw(!isRaw)}>
                {isRaw ? 'Conversation' : 'Raw'}
              </Button>
            </Group>
            <Side label="Request" parts={isRaw ? undefined : sent} raw={request} isCut={isRequestCut} />
            <Side label="Answer" parts={isRaw ? undefined : answered} raw={answer} isCut={isAnswerCut} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

interface SideProps {
  label: string;
  /** Undefined: the raw text is shown. */
  parts: readonly RecordedPart[] | undefined;
  raw: string;
  isCut: boolean;
}

function Side({ label, parts, raw, isCut }: SideProps) {
  return (
    <section aria-label={label}>
      <Title order={3} size="h5">
        {label}
      </Title>
      {isCut ? <Text size="sm">Not all of it was recorded.</Text> : null}
      <Stack gap="xs" mt="xs">
        {(parts ?? [{ role: '', text: raw }]).map(({ role, text }, index) => (
          <div key={index}>
            <Text size="xs" c="dimmed">
              {role}
            </Text>
            <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {text}
            </Code>
          </div>
        ))}
      </Stack>
    </section>
  );
}
