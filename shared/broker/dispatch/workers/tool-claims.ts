import type { ToolInfo } from '../../contract/announcement.ts';
import { contentName } from '../../contract/server-content.ts';
import { openOwner, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-pool.ts';
import { entryOf, isNamed, type CredentialEntries } from './model-claims.ts';

/** Names that are remembered. */
const maxNames = 10_000;

type NamedTool = Pick<ToolInfo, 'name' | 'givenName' | 'server'>;

/**
 * Decides which tools, and which content of MCP servers, a worker may announce, by its credential. Only workers of the tools tier have
 * any. One with an entry in the registry may announce what that names. Without an entry, it may not take a name that workers of the
 * tier's own credential, or of one with an entry, announce or have announced since this process started. See
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
   * Notes what a worker announces, if it may announce that whatever others do.
   * @returns the workers that may announce less from now on
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

  /** Whether it is the name of another tool, or begins with that of a server: the tools of a person's own connections do. */
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

/** What a tool is called by, and the content of the MCP server that it belongs to: keys permit a server's tools by that name. */
function namesOf({ name, givenName = name, server }: NamedTool): string[] {
  return [...new Set([name, givenName, ...(server === undefined ? [] : [contentName(server)])])];
}

/** What the names of a server's tools begin with where they are not unique, and always those of a person's own connection to it. */
function prefixOf(server: string): string {
  return `${server.replaceAll(/[^\w-]/g, '-')}_`;
}
