import { readFileSync } from 'node:fs';

/** What happens to a field of a request or an answer, as `docs/translation.md` states it. */
export type Effect =
  | { kind: 'passed' }
  /** `to`: path of the resulting field, with `[]` for every element. */
  | { kind: 'translated'; to: string; how: string }
  | { kind: 'ignored'; why: string }
  /** `feature`: what the field requests and the upstream lacks. */
  | { kind: 'refused'; feature: string };

export interface FieldRule {
  /** Path of the field, with `[]` for every element, and the case in words; `*` stands for all fields without a rule. */
  field: string;
  effect: Effect;
}

const page = readFileSync('docs/translation.md', 'utf8');

export function readRequestRules(client: string, upstream: string): FieldRule[] {
  return readRules(`## Requests of ${client} clients`, `${upstream} worker`);
}

export function readAnswerRules(client: string, upstream: string): FieldRule[] {
  return readRules(`## Answers of ${upstream} workers`, `${client} client`);
}

/** Reads one column of the first table below a heading. */
function readRules(heading: string, column: string): FieldRule[] {
  const sections = page.split(/^(?=## )/m);
  const section = sections.find((each) => each.split('\n')[0]?.toLowerCase() === heading.toLowerCase()) ?? '';
  const [head = [], , ...rows] = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const at = head.indexOf(column);
  if (at < 0) throw new Error(`docs/translation.md has no column '${column}' below '${heading}'`);
  return rows.map((cells) => {
    const field = toField(cells[1] ?? '');
    return { field, effect: toEffect(field, cells[at] ?? '') };
  });
}

function toField(cell: string): string {
  return cell === 'Any other field' ? '*' : cell.replaceAll('`', '');
}

function toEffect(field: string, cell: string): Effect {
  const [, verb = '', to = field, words = ''] = /^(\w+)(?: to `([^`]+)`)?(?:: (.+))?$/.exec(cell) ?? [];
  switch (verb) {
    case 'Passed':
      return { kind: 'passed' };
    case 'Changed':
    case 'Translated':
      return { kind: 'translated', to, how: words };
    case 'Ignored':
      return { kind: 'ignored', why: words };
    case 'Refused':
      return { kind: 'refused', feature: words };
    default:
      throw new Error(`docs/translation.md says of ${field}: '${cell}'`);
  }
}
