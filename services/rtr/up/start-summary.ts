import { findOwnCommand } from '../client/lib/own-command.mjs';
import { toConsoleLink } from '../commands/admin-link.ts';
import type { Engine } from './workers/find-engines.ts';
import type { Plan, PlannedWorker } from './workers/plan-workers.ts';

export interface StartSummary {
  /** Such as `http://127.0.0.1:8484`. */
  baseUrl: string;
  consoleUrl: string;
  chatFormat: string;
  metricsUrl: string;
  /** The raw key that this start created; undefined if this start created no key. */
  newKey: string | undefined;
  maskedKeys: readonly string[];
  /** Token of a new link for the first administrator; undefined if an administrator exists. */
  adminToken: string | undefined;
  engines: readonly Engine[];
  plan: Plan;
  /** Whether the demo engine serves, because there is no other engine. */
  usesDemoEngine: boolean;
  /** Whether any worker serves. */
  hasServingWorker: boolean;
}

const maxShownKeys = 2;

/** Returns the text that `rtr up` prints when the cluster is ready. */
export function formatStartSummary(facts: StartSummary): string {
  const { baseUrl, chatFormat, metricsUrl, newKey, maskedKeys, engines, plan, usesDemoEngine, hasServingWorker } =
    facts;
  const { consoleUrl, adminToken } = facts;
  const rtr = findOwnCommand();
  const chatUrl = `${baseUrl}/api/${chatFormat}`;
  const key = newKey
    ? `${newKey}\n            shown only now; another one: ${rtr} keys create --name <name>`
    : `${formatKeys(maskedKeys)}\n            another one: ${rtr} keys create --name <name>`;
  const consoleLine = adminToken
    ? `${toConsoleLink(consoleUrl, adminToken)}\n            open it within 24 hours to become the first administrator`
    : consoleUrl;
  const engineLines =
    engines.length > 0
      ? engines.map(({ origin, url }) => `${url} (${origin})`)
      : [
          `none was found${usesDemoEngine ? ': the demo engine answers until one starts' : '; one that starts later is used'}`,
        ];
  return [
    '',
    'Model Router is up.',
    '',
    ...listApiLines(baseUrl, chatFormat),
    `  key       ${key}`,
    `  console   ${consoleLine}`,
    `  engines   ${engineLines.join('\n            ')}`,
    ...listTierLines('cli', plan),
    ...listTierLines('cloud', plan),
    ...listTierLines('tools', plan),
    `  metrics   ${metricsUrl}`,
    ...(hasServingWorker ? [] : ['', '  No worker serves yet: its engine or provider does not answer.']),
    '',
    newKey ? 'Try it:' : 'Try it, with your key in RTR_KEY:',
    '',
    `  curl ${chatUrl}/chat/completions \\`,
    `    -H "Authorization: Bearer ${newKey ?? '$RTR_KEY'}" \\`,
    '    -H "Content-Type: application/json" \\',
    `    -d '{"model": "auto", "messages": [{"role": "user", "content": "Hello!"}]}'`,
    '',
    `Ctrl-C stops everything. This again: ${rtr} status. Details: ${rtr} logs.`,
    '',
  ].join('\n');
}

/** Returns the oldest keys; there may be hundreds. */
function formatKeys(maskedKeys: readonly string[]): string {
  if (maskedKeys.length === 0) return 'none that can be used';
  const rest = maskedKeys.length - maxShownKeys;
  return `${maskedKeys.slice(0, maxShownKeys).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** Returns the lines with the base URLs of the APIs, one below the other. */
export function listApiLines(baseUrl: string, chatFormat: string): string[] {
  const urls = [
    [`${baseUrl}/api/${chatFormat}`, 'OpenAI'],
    [`${baseUrl}/api/anthropic`, 'Anthropic'],
    [`${baseUrl}/api/tools/mcp`, 'MCP'],
  ] as const;
  const width = Math.max(...urls.map(([url]) => url.length));
  return urls.map(
    ([url, clients], i) => `${i === 0 ? '  base URL' : ''.padEnd(10)}  ${url.padEnd(width)}  for ${clients} clients`,
  );
}

/** Returns the lines about a tier: its workers, and the programs and providers that were found but cannot be used yet. */
function listTierLines(tier: PlannedWorker['tier'], { ready, unready }: Plan): string[] {
  const details = [...ready, ...unready].filter((worker) => worker.tier === tier).map(({ detail }) => detail);
  return details.length === 0 ? [] : [`  ${tier.padEnd(8)}  ${details.join('\n            ')}`];
}
