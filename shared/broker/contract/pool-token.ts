import { hash } from 'node:crypto';
import type { Tier } from '#shared/core/tier.ts';
import type { ModelInfo, ToolInfo } from './announcement.ts';
import { ownContract, type ContractRange } from './contract-range.ts';

/** The traits that all workers of a pool share. */
export interface PoolTraits {
  tier: Tier;
  kind: string;
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools?: readonly ToolInfo[] | undefined;
  /** The versions of the contract. Default: the versions of this release. */
  contract?: ContractRange;
}

/**
 * Derives the pool token of a worker. Workers are interchangeable, and have the same token, if they have the same tier and kind, the same
 * formats, models and tools, and the same versions of the contract.
 */
export function derivePoolToken(traits: PoolTraits): string {
  return `${traits.kind.replaceAll(/[^\w-]/g, '-')}-${computePoolDigest(traits).slice(0, 12)}`;
}

/** Computes the digest of a pool's traits, as 64 hexadecimal digits. */
export function computePoolDigest({
  tier,
  kind,
  formats,
  models,
  tools = [],
  contract = ownContract,
}: PoolTraits): string {
  const { oldest, newest } = contract;
  // Thousands of models may share one long list. So the list is hashed once, and the entry of each model contains the digest.
  const listDigests = new Map<readonly string[], string>();
  const computeListDigest = (list: readonly string[]): string => {
    const digest = listDigests.get(list) ?? hash('sha256', JSON.stringify([...list].sort()));
    listDigests.set(list, digest);
    return digest;
  };
  const entries = [
    ...models.map(({ id, capabilities, contextWindow, maxOutput, operations, lacks = [] }) => {
      const facts = [id, [...capabilities].sort(), contextWindow, maxOutput, ...(operations ? [operations] : [])];
      const text = JSON.stringify(facts);
      return lacks.length > 0 ? `${text.slice(0, -1)},{"lacks":"${computeListDigest(lacks)}"}]` : text;
    }),
    ...tools.map(({ name, description, inputSchema, server, givenName, title, ...others }) => {
      const { outputSchema, annotations, passes } = others;
      const details = JSON.stringify({ givenName, title, outputSchema, annotations, passes });
      const parts = [name, description, inputSchema, ...(server === undefined ? [] : [server])];
      return JSON.stringify(details === '{}' ? parts : [...parts, details]);
    }),
  ];
  return hash('sha256', [tier, kind, `${oldest}-${newest}`, [...formats].sort().join(), ...entries.sort()].join('\n'));
}
