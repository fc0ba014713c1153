import { createToolPrefix } from '#shared/core/valid-names.ts';
import type { ToolInfo } from '../../contract/announcement.ts';
import { contentName } from '../../contract/server-content.ts';
import { openCredentialName, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-worker.ts';
import { findEntry, matchesAny, type CredentialEntries } from './credential-model-rules.ts';

/** Maximum names that are kept. */
const maxNames = 10_000;

type NamedTool = Pick<ToolInfo, 'name' | 'givenName' | 'server'>;

/**
 * Decides which tools, and which content of MCP servers, a worker may announce, by its credential. Only workers of the tools tier may
 * announce any. If the credential has an entry with tools in the registry, the worker may announce the names in that entry. If the
 * credential is the tier's own, which has the tier's name, the worker may announce any name. Workers of these two kinds are trusted. Any
 * other worker with a credential may not announce a name that a trusted worker announces, or has announced since this process started.
 * See docs/decisions/0042-models-of-credentials.md.
 */
export class CredentialToolRules {
  #entries: CredentialEntries = {};
  readonly #names = new KnownNames(maxNames);

  /** Replaces the entries of all credentials. */
  setEntries(entries: CredentialEntries): void {
    this.#entries = entries;
  }

  /** Whether a worker may announce a tool. */
  mayServe(address: WorkerAddress, tool: NamedTool): boolean {
    const { tier, credentialName } = address;
    if (tier !== 'tools') return false;
    if (credentialName === openCredentialName) return true;
    const patterns = findEntry(this.#entries, credentialName)?.tools;
    if (patterns) return listNames(tool).every((name) => matchesAny(patterns, name));
    return this.isTrusted(address) || !listNames(tool).some((name) => this.#isReserved(name));
  }

  /**
   * Records the names that a worker announces, if the worker is trusted.
   * @returns the workers that may announce fewer tools from now on
   */
  recordNames<Other extends Pick<LiveWorker, 'address' | 'pool'>>(
    address: WorkerAddress,
    tools: readonly NamedTool[],
    workers: Iterable<Other>,
  ): Other[] {
    if (!this.isTrusted(address)) return [];
    const names = tools.flatMap((tool) => [
      ...listNames(tool),
      ...(tool.server === undefined ? [] : [createToolPrefix(tool.server)]),
    ]);
    const isNew = names.some((name) => !this.#names.has(name));
    for (const name of names) this.#names.add(name, address.tier);
    if (!isNew) return [];
    return [...workers].filter((other) => other.pool.tools.some((tool) => !this.mayServe(other.address, tool)));
  }

  /**
   * Whether a name is reserved: a trusted worker has announced the name, or an MCP server whose prefix the name has. The tools of MCP
   * account links have names with such a prefix.
   */
  #isReserved(name: string): boolean {
    if (this.#names.has(name)) return true;
    for (let index = name.indexOf('_'); index !== -1; index = name.indexOf('_', index + 1))
      if (this.#names.has(name.slice(0, index + 1))) return true;
    return false;
  }

  /** Whether a worker is trusted, see `CredentialToolRules`. Without credentials, no worker is trusted. */
  isTrusted({ tier, credentialName }: WorkerAddress): boolean {
    return credentialName === tier || findEntry(this.#entries, credentialName)?.tools !== undefined;
  }
}

/**
 * Returns a tool's names, and the name of its MCP server's content. API keys use the name of the content to permit all tools of the server.
 */
function listNames({ name, givenName = name, server }: NamedTool): string[] {
  return [...new Set([name, givenName, ...(server === undefined ? [] : [contentName(server)])])];
}
