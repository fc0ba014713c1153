import type { Effect, FieldRule } from '#shared/translate/field-rule.ts';
import { renderTable } from './render-table.ts';

/** One column of a table: the rules of one translation under its heading. */
export interface RuleColumn {
  head: string;
  rules: readonly FieldRule[];
}

/** One table of the documentation, in Markdown: a row for each field, a column for each translation. */
export function renderFieldRules(columns: readonly RuleColumn[]): string {
  const fields = [...new Set(columns.flatMap(({ rules }) => rules.map(({ field }) => field)))];
  const effects = columns.map(({ rules }) => new Map(rules.map(({ field, effect }) => [field, effect])));
  const rows = fields.map((field) => {
    const cells = effects.map((column) => {
      const effect = column.get(field);
      return effect ? wordsFor(field, effect) : '–';
    });
    return [nameOf(field), ...cells];
  });
  return renderTable(['Field', ...columns.map(({ head }) => head)], rows);
}

/** The path as code, followed by the case in words. */
function nameOf(field: string): string {
  if (field === '*') return 'Any other field';
  const [path = '', ...words] = field.split(/(?=[ ,])/);
  return `\`${path}\`${words.join('')}`;
}

function wordsFor(field: string, effect: Effect): string {
  switch (effect.kind) {
    case 'passed':
      return 'Passed';
    case 'translated':
      if (effect.to === field && effect.how !== '') return `Changed: ${effect.how}`;
      return `Translated to \`${effect.to}\`${effect.how === '' ? '' : `: ${effect.how}`}`;
    case 'ignored':
      return `Ignored: ${effect.why}`;
    case 'refused':
      return `Refused: ${effect.feature}`;
  }
}
