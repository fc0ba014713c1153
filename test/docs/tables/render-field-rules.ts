import type { Effect, FieldRule } from '#shared/translate/rules/field-rule.ts';

/**
 * One table of the documentation, in Markdown.
 * @param same heading of the column for the same format on the other side
 * @param other heading of the column for the other format
 */
export function renderFieldRules(rules: readonly FieldRule[], same: string, other: string): string {
  const rows = rules.map(
    ({ field, sameFormat, otherFormat }) => `| ${nameOf(field)} | ${wordsFor(sameFormat)} | ${wordsFor(otherFormat)} |`,
  );
  return [`| Field | ${same} | ${other} |`, '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** The path as code, what tells its cases apart as words. */
function nameOf(field: string): string {
  if (field === '*') return 'any other';
  const [path = '', ...words] = field.split(/(?=[ ,])/);
  return `\`${path}\`${words.join('')}`;
}

function wordsFor(effect: Effect): string {
  switch (effect.kind) {
    case 'passed':
      return 'passed';
    case 'translated':
      return `translated to \`${effect.to}\`${effect.how === '' ? '' : `: ${effect.how}`}`;
    case 'ignored':
      return `ignored: ${effect.why}`;
    case 'refused':
      return `refused: ${effect.what}`;
  }
}
