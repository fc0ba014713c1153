import { Table } from '@mantine/core';
import { memo, type ReactNode } from 'react';
import { toColumnKey, type Sorting, type Column } from './arrange-rows.ts';

export interface RowsProps<Row> {
  label: string;
  rows: readonly Row[];
  getId: (row: Row) => string;
  columns: readonly [Column<Row>, ...Column<Row>[]];
  actions?: (row: Row) => ReactNode;
}

export interface TableRowsProps<Row> extends RowsProps<Row> {
  sortable: boolean;
  sorting: Sorting | undefined;
  /** Returns whether a column sorts by numbers or times, the greatest first. */
  isNumeric: (column: string) => boolean;
  onSort: (sorting: Sorting | undefined) => void;
}

/** Shows the rows as cards, on a phone. */
export const Cards = memo(function Cards<Row>({ label, rows, getId, columns, actions }: RowsProps<Row>) {
  const [first, ...rest] = columns;
  return (
    <ul className="panel panel-flush cards" aria-label={label}>
      {rows.map((row) => (
        <li key={getId(row)}>
          {renderCell(first, row)}
          <dl>
            {rest
              .filter(({ wideOnly }) => !wideOnly)
              .map((column) => (
                <div key={column.label} style={{ display: 'contents' }}>
                  <dt>{column.label}</dt>
                  <dd>{renderCell(column, row)}</dd>
                </div>
              ))}
          </dl>
          {actions ? <div style={{ marginBlockStart: '0.5rem' }}>{actions(row)}</div> : null}
        </li>
      ))}
    </ul>
  );
}) as <Row>(props: RowsProps<Row>) => ReactNode;

/** A table with a head and actions that stay visible while it scrolls. */
export function TableRows<Row>(props: TableRowsProps<Row>) {
  const { label, columns, actions, sortable, sorting, isNumeric, onSort, rows, getId } = props;
  /** The first click sorts by the column, the second reverses the order, and the third restores the list's own order. */
  const sortByColumn = (column: string): void => {
    const startsDescending = isNumeric(column);
    if (sorting?.column !== column) onSort({ column, isDescending: startsDescending });
    else onSort(sorting.isDescending === startsDescending ? { column, isDescending: !startsDescending } : undefined);
  };
  return (
    <div className="panel panel-flush table-region" role="region" aria-label={label} tabIndex={0}>
      <Table aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => {
              const key = toColumnKey(column);
              const isSorted = sorting?.column === key && column.sortBy !== undefined;
              return (
                <Table.Th
                  key={column.label}
                  ta={column.isNumber ? 'right' : 'left'}
                  scope="col"
                  {...(isSorted && { 'aria-sort': sorting.isDescending ? 'descending' : 'ascending' })}
                >
                  {sortable && column.sortBy ? (
                    <button type="button" className="table-sort" onClick={() => sortByColumn(key)}>
                      {column.label}
                    </button>
                  ) : (
                    column.label
                  )}
                </Table.Th>
              );
            })}
            {actions ? (
              <Table.Th ta="right" scope="col" className="table-actions">
                Actions
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <TableBody rows={rows} getId={getId} columns={columns} label={label} {...(actions && { actions })} />
      </Table>
    </div>
  );
}

const TableBody = memo(function Body<Row>({ rows, getId, columns, actions }: RowsProps<Row>) {
  return (
    <Table.Tbody>
      {rows.map((row) => (
        <Table.Tr key={getId(row)}>
          {columns.map((column) => (
            <Table.Td
              key={column.label}
              ta={column.isNumber ? 'right' : 'left'}
              className={column.isNumber ? 'numeric' : ''}
            >
              {renderCell(column, row)}
            </Table.Td>
          ))}
          {actions ? (
            <Table.Td ta="right" className="table-actions">
              {actions(row)}
            </Table.Td>
          ) : null}
        </Table.Tr>
      ))}
    </Table.Tbody>
  );
}) as <Row>(props: RowsProps<Row>) => ReactNode;

function renderCell<Row>({ render, sortBy, format }: Column<Row>, row: Row): ReactNode {
  if (render) return render(row);
  const value = sortBy?.(row);
  if (typeof value === 'number') return format ? format(value) : value;
  return <span className="break">{value}</span>;
}
