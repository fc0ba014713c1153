import type { ToolInfo } from '../../contract/announcement.ts';
import { contentName } from '../../contract/server-content.ts';
import { openOwner, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-pool.ts';
import { entryOf, isNamed, type CredentialEntries } from './model-claims.ts';

const maxNames = 10_000;

type NamedTool = Pick<ToolInfo, 'name' | 'givenName' | 'server'>;

/**
 * Decides which tools, and which content of MCP servers, a worker may announce, by its credential. Only workers of the tools tier may
 * announce any. A worker whose credential has an entry in the registry may announce the names in that entry. A worker without an entry may
 * not use a name that workers with the tier's own credential, or with an entry, announce or have announced since this process started. See
 * docs/decisions/0042-models-of-credentials.md.
 */
export class ToolClaims {
  #granted: CredentialEntries = {};
  readonly #names = new KnownNames(maxNames);

  /** Replaces the entries of all credentials. */
  grant(granted: CredentialEntries): void {
    this.#granted = granted;
  }

  mayServe(address: WorkerAddress, tool: NamedTool): boolean {
    const { tier, owner } = address;
    if (tier !== 'tools') return false;
    if (owner === openOwner) return true;
    const patterns = entryOf(this.#granted, owner)?.tools;
    if (patterns) return namesOf(tool).every((name) => isNamed(patterns, name));
    return this.#isTrusted(address) || !namesOf(tool).some((name) => this.#isTaken(name));
  }

  /**
   * Records the names that a worker announces, if its credential is the tier's own or has an entry.
   * @returns the workers that may announce fewer tools from now on
   */
  served<Other extends Pick<LiveWorker, 'address' | 'pool'>>(
    address: WorkerAddress,
    tools: readonly NamedTool[],
    workers: Iterable<Other>,
  ): Other[] {
    if (!this.#isTrusted(address)) return [];
    const names = tools.flatMap((tool) => [
      ...namesOf(tool),
      ...(tool.server === undefined ? [] : [prefixOf(tool.server)]),
    ]);
    const isNew = names.some((name) => !this.#names.has(name));
    for (const name of names) this.#names.add(name, address.tier);
    if (!isNew) return [];
    return [...workers].filter((other) => other.pool.tools.some((tool) => !this.mayServe(other.address, tool)));
  }

  /** Whether a name belongs to another tool, or begins with the prefix of an MCP server, as the tools of MCP account links do. */
  #isTaken(name: string): boolean {
    if (this.#names.has(name)) return true;
    for (let at = name.indexOf('_'); at !== -1; at = name.indexOf('_', at + 1))
      if (this.#names.has(name.slice(0, at + 1))) return true;
    return false;
  }

  #isTrusted({ tier, owner }: WorkerAddress): boolean {
    return owner === tier || entryOf(this.#granted, owner)?.tools !== undefined;
  }
}

/** Returns the names of a tool, and the name of the content of its MCP server, by which keys permit all tools of that server. */
function namesOf({ name, givenName = name, server }: NamedTool): string[] {
  return [...new Set([name, givenName, ...(server === undefined ? [] : [contentName(server)])])];
}

/**
 * Returns the prefix of a server's tool names. Shared tools have it if their names are not unique; tools of MCP account links always have
 * it.
 */
function prefixOf(server: string): string {
  return `${server.replaceAll(/[^\w-]/g, '-')}_`;
}
