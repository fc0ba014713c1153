import { Button, Group, Modal, Stack, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BatchDetails } from '../../../contract/batches.ts';
import { apiBase } from '../../api/call-api.ts';
import { useApi } from '../../api/use-api.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount, formatDateTime, formatMoney } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { hasEnded, describeState } from './batch-state.ts';

/** Milliseconds between two fetches of a batch that has not ended. */
const fetchEveryMs = 3_000;

/** Milliseconds between two fetches of an ended batch, which the router deletes some time after it expires. */
const fetchEndedEveryMs = 60_000;

/**
 * Shows the facts, the first errors and the files of a batch in a dialog.
 * @param id undefined while the dialog is closed
 */
export function BatchDetailsModal({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  return (
    <Modal opened={id !== undefined} onClose={onClose} title={<span className="break">{id}</span>} size="lg">
      {id === undefined ? null : <LoadedDetails id={id} />}
    </Modal>
  );
}

function LoadedDetails({ id }: { id: string }) {
  const details = useApi<BatchDetails>(`/batches/${encodeURIComponent(id)}`, {
    everyMs: (batch) => (batch && hasEnded(batch) ? fetchEndedEveryMs : fetchEveryMs),
  });
  return (
    <Loaded query={details} contentName="the batch">
      {(batch) => (
        <Stack gap="sm">
          <Downloads batch={batch} />
          <Facts batch={batch} />
          <Errors batch={batch} />
        </Stack>
      )}
    </Loaded>
  );
}

function Facts({ batch }: { batch: BatchDetails }) {
  const { owner, endpoint, model, createdAt, runningAt, endedAt, expiresAt, total, paused, cost, metadata } = batch;
  const { succeeded, errored, cancelled, expired, promptTokens, cachedTokens, completionTokens, reasoningTokens } =
    batch;
  const facts: [string, ReactNode][] = [
    ['Owner', owner.name],
    ['State', paused ? `${describeState(batch).word}: ${paused.reason}` : describeState(batch).word],
    [
      'Requests',
      `${total === 0 ? 'not counted' : formatCount(total)}, to ${endpoint}${model === undefined ? '' : `, the first one for ${model}`}`,
    ],
    [
      'Results',
      `${formatCount(succeeded)} with an answer, ${formatCount(errored)} with an error, ${formatCount(cancelled)} cancelled, ${formatCount(expired)} expired`,
    ],
    ['Created', formatDateTime(createdAt)],
    ['Started', runningAt === undefined ? (hasEnded(batch) ? 'never' : 'not yet') : formatDateTime(runningAt)],
    [
      'Ended',
      endedAt === undefined
        ? `not yet; requests that are not done by ${formatDateTime(expiresAt)} expire`
        : formatDateTime(endedAt),
    ],
    ['Input tokens', `${formatCount(promptTokens)}, ${formatCount(cachedTokens)} of them cached`],
    ['Output tokens', `${formatCount(completionTokens)}, ${formatCount(reasoningTokens)} of them reasoning`],
    ['Cost', formatMoney(cost)],
  ];
  return (
    <Table>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
        {Object.entries(metadata).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w="8rem" className="break">
        {name}
      </Table.Th>
      <Table.Td className="break">{value}</Table.Td>
    </Table.Tr>
  );
}

function chooseErrorsTitle(state: BatchDetails['state'], hasInputProblems: boolean): string {
  if (!hasInputProblems) return 'First errors';
  return state === 'failed' ? 'The input is not valid' : 'The input was lost';
}

/** Shows the problems of the input or, if there are none, the errors of the first failed lines. */
function Errors({ batch: { state, problems, firstErrors } }: { batch: BatchDetails }) {
  const errors: BatchDetails['problems'] = problems.length > 0 ? problems : firstErrors;
  if (errors.length === 0) return null;
  return (
    <section aria-label="First errors">
      <Title order={3} size="h4">
        {chooseErrorsTitle(state, problems.length > 0)}
      </Title>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col" w="5rem">
              Line
            </Table.Th>
            <Table.Th scope="col">Error</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {errors.map((error, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- errors have no id, and their order is fixed
            <Table.Tr key={index}>
              <Table.Td className="numeric">{error.line === undefined ? '–' : formatCount(error.line)}</Table.Td>
              <Table.Td className="break">
                {problems.length > 0 ? (error.message ?? error.code) : `${error.code}: ${toErrorSentence(error.code)}`}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Downloads({ batch: { owner, outputFile, errorFile, mayRead } }: { batch: BatchDetails }) {
  const files = [
    { id: outputFile, name: 'Download the answers' },
    { id: errorFile, name: 'Download the errors' },
  ].filter(({ id }) => id !== undefined);
  if (files.length === 0) return null;
  if (!mayRead) {
    return (
      <Text size="sm" c="dimmed">
        Only the owner of the batch can read its files.
      </Text>
    );
  }
  return (
    <Group gap="xs">
      {files.map(({ id = '', name }) => (
        <Button
          key={id}
          component="a"
          href={`${apiBase}/files/${id}/content?owner=${owner.kind}:${owner.id}`}
          download
          variant="default"
          leftSection={<Icon name="download" size={16} />}
        >
          {name}
        </Button>
      ))}
    </Group>
  );
}
