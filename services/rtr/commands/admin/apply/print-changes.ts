import { formatMinute } from '../../table-lines.ts';
import type { AdminContext } from '../admin-context.ts';
import type { Change, Plan } from './change.ts';
import type { Difference } from './find-differences.ts';

const signs = { create: '+', change: '~', remove: '-' } as const;

export function toChangeLines({ does, what, fields }: Change): string[] {
  return [`${signs[does]} ${what}`, ...fields.map((field) => `    ${formatField(field, does)}`)];
}

/**
 * Returns a change as `--json` prints it.
 * @param key secret of the key that the change created
 */
export function toChangeObject({ does, what, fields }: Change, key?: string): object {
  return {
    does,
    what,
    fields: fields.map(({ field, before = null, after = null }) => ({ field, before, after })),
    ...(key !== undefined && { key }),
  };
}

export function printSummary({ print, json }: AdminContext, { changes, unchanged, left }: Plan, isDone: boolean): void {
  const counts = Object.fromEntries(
    (['create', 'change', 'remove'] as const).map((does) => [
      does,
      changes.filter((change) => change.does === does).length,
    ]),
  );
  const leftText = left.length === 0 ? '' : ` Left alone: ${left.join('; ')}.`;
  if (json) return print(JSON.stringify({ ...counts, unchanged, left, done: isDone }));
  if (changes.length === 0) {
    const matching = unchanged === 1 ? 'one thing is' : `${unchanged} things are`;
    return print(`Nothing to change: ${matching} as the file says.${leftText}`);
  }
  const words = isDone ? ['created', 'changed', 'removed'] : ['to create', 'to change', 'to remove'];
  const parts = Object.values(counts).map((count, index) => `${count} ${words[index] ?? ''}`);
  print(`${parts.join(', ')}; ${unchanged} as the file says.${leftText}`);
}

function formatField(difference: Difference, does: Change['does']): string {
  const { field, after } = difference;
  return does === 'create' ? `${field}: ${formatValue(field, after)}` : formatDifference(difference);
}

/** Returns a text such as `limits.costPerDay: 5 → 10`. */
export function formatDifference({ field, before, after }: Difference): string {
  const [beforeText, afterText] = [before, after].map((value) => formatValue(field, value));
  return `${field}: ${beforeText} → ${afterText}`;
}

export function formatValue(field: string, value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (field === 'expiresAt' && typeof value === 'number') return `${formatMinute(value)} UTC`;
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
