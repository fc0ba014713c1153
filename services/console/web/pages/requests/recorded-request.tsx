import { Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Recording, RecordingWithContent } from '../../../contract/recordings.ts';
import { callApi } from '../../api/call-api.ts';
import { useApi, useChange } from '../../api/use-api.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { readAnswerParts, readRequestParts, type RecordedPart } from './recorded-conversation.ts';

/** Shows the recordings of a request, each with a button that shows the conversation. Shows nothing if the request was not recorded. */
export function RecordedRequest({ id }: { id: string }) {
  const { data: page } = useApi<{ data: Recording[] }>(`/recordings?limit=10&request=${encodeURIComponent(id)}`);
  return page?.data.map((recording) => <RecordingPanel key={recording.storedAs} recording={recording} />);
}

function RecordingPanel({ recording }: { recording: Recording }) {
  const { id, storedAs, recordedBy, expiresAt } = recording;
  const [isShown, setShown] = useState(false);
  const [recordingToDelete, setRecordingToDelete] = useState<Recording>();
  const path = `/recordings/${encodeURIComponent(id)}?storedAs=${encodeURIComponent(storedAs)}`;
  const deleteRecording = useChange(() => callApi('DELETE', path), ['/recordings']);
  return (
    <section className="panel" aria-label="Recording">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Recorded
          </Title>
          <Group gap="xs">
            {isShown ? null : (
              <Button variant="default" onClick={() => setShown(true)}>
                Show conversation
              </Button>
            )}
            <Button variant="default" onClick={() => setRecordingToDelete(recording)}>
              Delete recording
            </Button>
          </Group>
        </Group>
        <Text size="sm">
          Prompt and answer of this request by {recordedBy} are kept until {formatDateTime(expiresAt)}. Unless the
          request was sent with a key of your own, reading them is noted in the audit trail.
        </Text>
        {isShown ? <Content path={path} /> : null}
      </Stack>
      <Confirm
        title="Delete the recording?"
        action="Delete recording"
        change={deleteRecording}
        input={recordingToDelete}
        onClose={() => setRecordingToDelete(undefined)}
      >
        Prompt and answer are removed at once. The ledger keeps its record of the request.
      </Confirm>
    </section>
  );
}

function Content({ path }: { path: string }) {
  const content = useApi<RecordingWithContent>(path);
  const [showsRaw, setShowsRaw] = useState(false);
  return (
    <Loaded query={content} contentName="the recording">
      {({ request, answer, answerEncoding, isRequestCut, isAnswerCut }) => {
        const requestParts = readRequestParts(request);
        const answerParts = answerEncoding === 'utf8' ? readAnswerParts(answer) : undefined;
        return (
          <Stack gap="sm">
            <Group>
              <Button size="xs" variant="default" aria-pressed={showsRaw} onClick={() => setShowsRaw(!showsRaw)}>
                {showsRaw ? 'Conversation' : 'Raw'}
              </Button>
            </Group>
            <RecordedBody
              label="Request"
              parts={showsRaw ? undefined : requestParts}
              body={request}
              isCut={isRequestCut}
            />
            <RecordedBody label="Answer" parts={showsRaw ? undefined : answerParts} body={answer} isCut={isAnswerCut} />
          </Stack>
        );
      }}
    </Loaded>
  );
}

interface RecordedBodyProps {
  label: string;
  /** Parts of the conversation; undefined to show the raw text. */
  parts: readonly RecordedPart[] | undefined;
  body: string;
  isCut: boolean;
}

function RecordedBody({ label, parts, body, isCut }: RecordedBodyProps) {
  return (
    <section aria-label={label}>
      <Title order={3} size="h5">
        {label}
      </Title>
      {isCut ? <Text size="sm">Only the beginning was recorded.</Text> : null}
      <Stack gap="xs" mt="xs">
        {(parts ?? [{ role: '', text: body }]).map(({ role, text }, index) => (
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
