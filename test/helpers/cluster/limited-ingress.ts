import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Limits } from '#shared/accounts/limits/limits.ts';

/** The environment of an ingress on which every key has these limits (of its own), or this identity. */
export function limitedIngress(limits: Limits, identity: Partial<KeyIdentity> = {}): Record<string, string> {
  const helper = pathToFileURL(join(import.meta.dirname, 'grant-limits.ts')).href;
  const given: Partial<KeyIdentity> = { limits: [{ party: 'key:KEY', limits }], ...identity };
  return { NODE_OPTIONS: `--import=${helper}`, TEST_IDENTITY: JSON.stringify(given) };
}

/** The environment of an ingress on which the demo model costs a dollar for a million tokens of input, two of output. */
export function pricedDemo(): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'rtr-test-registry-')), 'router.yaml');
  writeFileSync(file, 'prices:\n  demo: { input: 1, output: 2 }\n');
  return { ROUTER_CONFIG: file };
}
