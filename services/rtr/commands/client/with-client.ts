import type { ClientConfig } from '../../config.ts';
import { localUrl } from '../../up/cluster-addresses.ts';
import { UpError } from '../../up/up-error.ts';
import type { ClientContext } from './client-context.ts';
import { ProgressBar, type BarOutput } from './progress-bar.ts';
import { RouterClient } from './router-client.ts';

export interface ClientOptions {
  config: ClientConfig;
  json: boolean;
  print: (line: string) => void;
  /** Where the bar is drawn. */
  output: BarOutput;
}

/**
 * Runs a command that speaks to the router as its clients do.
 * @throws UpError without a key
 */
export async function withClient(
  { config, json, print, output }: ClientOptions,
  command: (context: ClientContext) => Promise<unknown>,
): Promise<void> {
  const { RTR_URL: url = localUrl(config), RTR_KEY: key, CHAT_FAMILY: segment } = config;
  if (key === undefined) throw new UpError('Set RTR_KEY to an API key of the router, and RTR_URL to its address.');
  await command({ client: new RouterClient({ url, key, segment }), bar: new ProgressBar(output), print, json });
}
