import type { Metric, CellResult, SideResult } from './peer-results.ts';

/** Collects the measurements of the cells, and prints each one. */
export class Recorder {
  readonly #cells = new Map<string, CellResult>();

  get cells(): CellResult[] {
    return [...this.#cells.values()];
  }

  /** Adds one round's values of a side. Leaves out values that are not numbers. */
  add(
    cell: { name: string; title: string },
    side: string,
    values: Partial<Record<Metric, number>>,
    failures: Record<string, number>,
  ): void {
    const result = this.#sideOf(cell, side);
    const shown: string[] = [];
    for (const [metric, value] of Object.entries(values) as [Metric, number][]) {
      if (!Number.isFinite(value)) continue;
      (result.values[metric] ??= []).push(value);
      shown.push(`${metric} ${value.toPrecision(4)}`);
    }
    for (const [reason, count] of Object.entries(failures)) {
      result.failures[reason] = (result.failures[reason] ?? 0) + count;
      shown.push(`${count} ${reason}`);
    }
    process.stderr.write(`${cell.name.padEnd(24)} ${side.padEnd(26)} ${shown.join(', ')}\n`);
  }

  #sideOf({ name, title }: { name: string; title: string }, side: string): SideResult {
    const cell = this.#cells.get(name) ?? { name, title, sides: {} };
    this.#cells.set(name, cell);
    return (cell.sides[side] ??= { values: {}, failures: {} });
  }
}
