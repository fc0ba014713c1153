import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the environment of an ingress with this registry. Equal registries share one file. */
export function withRegistry(text: string): Record<string, string> {
  const folder = join(tmpdir(), `rtr-test-registry-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${createHash('sha256').update(text).digest('hex')}.yaml`);
  writeFileSync(file, text);
  return { ROUTER_CONFIG: file };
}
