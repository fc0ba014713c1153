import { Button, Group, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { formatCount } from './format.ts';

export interface PagesProps<Row> {
  /** What the rows are, as `workers`. */
  what: string;
  rows: readonly Row[];
  /** Rows of a page. */
  size: number;
  children: (rows: readonly Row[]) => ReactNode;
}

/** A long list page by page: only the rows of one are in the document. */
export function Pages<Row>({ what, rows, size, children }: PagesProps<Row>) {
  const [asked, ask] = useState(0);
  const last = Math.max(0, Math.ceil(rows.length / size) - 1);
  const page = Math.min(asked, last);
  const from = page * size;
  const shown = rows.slice(from, from + size);
  return (
    <>
      {children(shown)}
      {last === 0 ? null : (
        <Group gap="sm" role="navigation" aria-label={`Pages of ${what}`}>
          <Button size="xs" variant="default" disabled={page === 0} onClick={() => ask(page - 1)}>
            Previous
          </Button>
          <Button size="xs" variant="default" disabled={page === last} onClick={() => ask(page + 1)}>
            Next
          </Button>
          <Text size="sm" c="dimmed">
            {formatCount(from + 1)} to {formatCount(from + shown.length)} of {formatCount(rows.length)} {what}
          </Text>
        </Group>
      )}
    </>
  );
}
