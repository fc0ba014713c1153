import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The environment of an ingress on which the demo model costs a dollar for a million tokens of input, two of output. */
export function pricedDemo(): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'rtr-test-registry-')), 'router.yaml');
  writeFileSync(file, 'prices:\n  demo: { input: 1, output: 2 }\n');
  return { ROUTER_CONFIG: file };
}
