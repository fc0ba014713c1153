import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The environment of an ingress with this registry. */
export function withRegistry(text: string): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'rtr-test-registry-')), 'router.yaml');
  writeFileSync(file, text);
  return { ROUTER_CONFIG: file };
}
