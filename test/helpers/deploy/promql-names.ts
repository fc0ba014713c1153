/** The names in a PromQL expression: each metric with the labels of its selector, and the labels of groupings. */
export interface PromqlNames {
  metrics: { name: string; labels: string[] }[];
  groupedBy: string[];
}

const keywords = new Set(['and', 'or', 'unless', 'bool', 'offset', 'on', 'ignoring', 'by', 'without']);

/** Reads the names in an expression. Supports expressions without comments. */
export function promqlNames(expression: string): PromqlNames {
  const groupedBy: string[] = [];
  const withoutGroups = expression.replaceAll(
    /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g,
    (_, names: string) => {
      groupedBy.push(...namesIn(names));
      return ' ';
    },
  );
  const metrics: PromqlNames['metrics'] = [];
  const plain = withoutGroups.replaceAll(/\[[^\]]*\]/g, ' ');
  for (const [, name = '', selector = '', call] of plain.matchAll(
    /(?<![\w"$])([a-z_:][\w:]*)\s*(\{(?:[^}"]|"[^"]*")*\})?\s*(\()?/gi,
  )) {
    if (call === undefined && !keywords.has(name)) metrics.push({ name, labels: labelsIn(selector) });
  }
  return { metrics, groupedBy };
}

function labelsIn(selector: string): string[] {
  return [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label);
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
