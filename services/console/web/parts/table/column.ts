import type { ReactNode } from 'react';
import type { ArrangedColumn } from './arrange-rows.ts';

export interface Column<Row> extends ArrangedColumn<Row> {
  render: (row: Row) => ReactNode;
  /** Aligns numbers to the right. */
  isNumber?: boolean;
  /** Hides the column on a phone. */
  wideOnly?: boolean;
}
