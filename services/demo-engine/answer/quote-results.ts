import type { Turn } from '../request/read-turn.ts';
import { quote } from './quote.ts';

const maxQuoted = 2000;

/** The answer to what tools have found: their results, quoted. */
export function quoteResults(results: Turn['toolResults']): string {
  const each = Math.ceil(maxQuoted / results.length);
  return results
    .map(({ name, text }) => (text === '' ? `${name} gave nothing.` : `${name} gave: ${quote(text, each)}`))
    .join('\n');
}
