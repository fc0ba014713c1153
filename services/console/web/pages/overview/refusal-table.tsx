import { Table, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type { RefusalCounts as Refused } from '../../../contract/live.ts';
import { toErrorSentence } from '../../parts/error-sentence.ts';
import { formatCount } from '../../parts/format.ts';

/** Shows the refused requests of the last minute and hour by reason. Only administrators receive them. */
export function RefusalTable({ refused }: { refused: readonly Refused[] }) {
  return (
    <section className="panel">
      <Title order={2}>Refused</Title>
      <Text size="xs" c="dimmed" mb="sm">
        Requests that were refused before a worker got them, by reason. <Link href="/usage">Usage</Link> shows more.
      </Text>
      <Table aria-label="Refused requests">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Reason</Table.Th>
            <Table.Th scope="col" ta="right">
              Last minute
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Last hour
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {refused.map(({ code, minute, hour }) => (
            <Table.Tr key={code}>
              <Table.Td title={code}>{toErrorSentence(code)}</Table.Td>
              <Table.Td ta="right" className="numeric">
                {formatCount(minute)}
              </Table.Td>
              <Table.Td ta="right" className="numeric">
                {formatCount(hour)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}
