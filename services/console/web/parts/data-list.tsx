import { Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useMediaQuery } from '@mantine/hooks';

export interface Column<Row> {
  label: string;
  render: (row: Row) => ReactNode;
  /** Aligns numbers to the right. */
  isNumber?: boolean;
  /** Hides the column on a phone. */
  wideOnly?: boolean;
}

export interface DataListProps<Row> {
  /** The list's name for screen readers. */
  label: string;
  rows: readonly Row[];
  idOf: (row: Row) => string;
  /** The first column names the row. */
  columns: readonly [Column<Row>, ...Column<Row>[]];
  /** The buttons of a row. */
  actions?: (row: Row) => ReactNode;
}

/** A table; on a phone, a list with a card for each row. */
export function DataList<Row>({ label, rows, idOf, columns, actions }: DataListProps<Row>) {
  const isPhone = useIsPhone();
  const [first, ...rest] = columns;
  if (isPhone) {
    return (
      <ul className="panel panel-flush cards" aria-label={label}>
        {rows.map((row) => (
          <li key={idOf(row)}>
            {first.render(row)}
            <dl>
              {rest
                .filter(({ wideOnly }) => !wideOnly)
                .map((column) => (
                  <div key={column.label} style={{ display: 'contents' }}>
                    <dt>{column.label}</dt>
                    <dd>{column.render(row)}</dd>
                  </div>
                ))}
            </dl>
            {actions ? <div style={{ marginBlockStart: '0.5rem' }}>{actions(row)}</div> : null}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <div className="panel panel-flush" role="region" aria-label={label} tabIndex={0}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ label, isNumber }) => (
              <Table.Th key={label} ta={isNumber ? 'right' : 'left'} scope="col">
                {label}
              </Table.Th>
            ))}
            {actions ? (
              <Table.Th ta="right" scope="col">
                Actions
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={idOf(row)}>
              {columns.map(({ label, isNumber, render }) => (
                <Table.Td key={label} ta={isNumber ? 'right' : 'left'} className={isNumber ? 'numeric' : ''}>
                  {render(row)}
                </Table.Td>
              ))}
              {actions ? <Table.Td ta="right">{actions(row)}</Table.Td> : null}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Whether the screen has room for one column only. */
export function useIsPhone(): boolean {
  return useMediaQuery('(max-width: 47.99em)', undefined, { getInitialValueInEffect: false });
}
