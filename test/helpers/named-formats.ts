import { readFileSync } from 'node:fs';
import { parseSync } from 'vite';

type Node = Record<string, unknown> & { type: string; start: number };

/** Comparison operators. */
const comparisons: ReadonlySet<unknown> = new Set(['===', '!==', '==', '!=']);

/** Methods that look up a name. */
const lookUps: ReadonlySet<unknown> = new Set(['get', 'has', 'includes', 'indexOf', 'startsWith', 'endsWith']);

/** Properties that name a format. */
const formatFields: ReadonlySet<unknown> = new Set(['format', 'client', 'upstream', 'formats']);

/**
 * Returns the places where a file decides by a format's name: it compares with it, has a case, a literal type or a default for it, looks it
 * up, or lists it. A field of a request that happens to have the same name does not count.
 * @param names names of the formats
 */
export function namedFormats(file: string, names: ReadonlySet<string>): string[] {
  const text = readFileSync(file, 'utf8');
  const found: string[] = [];
  const isName = (node: unknown): boolean =>
    isNode(node) && node.type === 'Literal' && names.has(String(node['value']));
  const report = (node: Node, what: string): void => {
    found.push(`${file}:${text.slice(0, node.start).split('\n').length} ${what}`);
  };
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isNode(node)) return undefined;
    switch (node.type) {
      case 'BinaryExpression':
        if (comparisons.has(node['operator']) && (isName(node['left']) || isName(node['right'])))
          report(node, 'compares');
        break;
      case 'SwitchCase':
        if (isName(node['test'])) report(node, 'has a case');
        break;
      case 'TSLiteralType':
        if (isName(node['literal'])) report(node, 'has a literal type');
        break;
      case 'TSIndexedAccessType':
        // The type of a field of that name.
        return visit(node['objectType']);
      case 'CallExpression':
        if (lookUps.has(methodOf(node)) && listOf(node['arguments']).some(isName)) report(node, 'looks it up');
        break;
      case 'ArrayExpression':
        if (listOf(node['elements']).filter(isName).length > 1) report(node, 'lists them');
        break;
      case 'ObjectExpression':
        if (listOf(node['properties']).filter((each) => names.has(keyOf(each) ?? '')).length > 1) {
          report(node, 'has an entry for each');
        }
        break;
      case 'Property':
        if (formatFields.has(keyOf(node)) && isName(node['value'])) report(node, 'sets a format');
        break;
    }
    Object.values(node).forEach(visit);
  };
  visit(parseSync(file, text).program);
  return found;
}

function methodOf({ callee }: Node): unknown {
  if (!isNode(callee)) return undefined;
  const { property } = callee;
  return isNode(property) ? property['name'] : undefined;
}

function keyOf(property: unknown): string | undefined {
  if (!isNode(property) || property.type !== 'Property') return undefined;
  const { key } = property;
  if (!isNode(key)) return undefined;
  const name = key['name'] ?? key['value'];
  return typeof name === 'string' ? name : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}
