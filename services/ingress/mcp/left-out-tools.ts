import type { Logger } from '#shared/core/log.ts';
import type { ListedTool } from '#shared/serving/list-tools.ts';

/** Milliseconds between two log lines. */
const quietMs = 60_000;

/**
 * Logs tools that are left out of lists for MCP clients: at most once a minute, because clients request lists as often as they like and
 * keys have different lists, and not again for the same servers.
 */
export class LeftOutTools {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #now: () => number;
  #quietUntil = Number.NEGATIVE_INFINITY;
  #loggedServers = '';

  /** @param now returns a time in milliseconds */
  constructor(log: Pick<Logger, 'warn'>, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** @param fittingTools the tools of the list that are not left out */
  add(tools: readonly ListedTool[], fittingTools: readonly ListedTool[]): void {
    if (fittingTools.length === tools.length || this.#now() < this.#quietUntil) return;
    const fitting = new Set(fittingTools);
    const leftOut = tools.filter((tool) => !fitting.has(tool));
    const servers = [...new Set(leftOut.map(({ server, worker }) => server ?? worker))].sort();
    if (servers.join() === this.#loggedServers) return;
    this.#loggedServers = servers.join();
    this.#quietUntil = this.#now() + quietMs;
    this.#log.warn(
      { servers, tools: leftOut.length },
      'tools are left out of the list for MCP clients: the list is too large',
    );
  }
}
